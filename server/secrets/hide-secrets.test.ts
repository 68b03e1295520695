import { expect, test } from 'vitest'
import { hideSecrets } from './hide-secrets.ts'

const formOf = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
const secret = 'cañary+7/3 "q"==secret'

test.for<[string, string]>([
  ['plain', secret],
  ['in JSON', JSON.stringify({ msg: secret })],
  ['percent-encoded', `?x=${encodeURIComponent(secret)}`],
  ['in a form', new URLSearchParams({ x: secret }).toString()],
  ['in base64 as a form has it', Buffer.from(`me:${formOf(secret)}`).toString('base64')],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in base64url', Buffer.from(secret).toString('base64url')],
  ['in base64 behind a user name', Buffer.from(`x:${secret}`).toString('base64')],
  ['in base64 behind a longer one', Buffer.from(`me:${secret}`).toString('base64')],
  ['in base64 before something', Buffer.from(`me:${secret} and more`).toString('base64url')],
])('a secret %s is hidden', ([, text]) => {
  const safe = hideSecrets(`before ${text} after`, [secret])
  expect(safe).toMatch(/^before .*<redacted>.* after$/)
  expect(safe).not.toMatch(/ca(?:ñ|%C3%B1)ary|secret|cret|c2Vjc|NlY3|zZWNy/)
})

test.for(['', 'abc'])('the secret "%s" is too short to be hidden', (short) => {
  expect(hideSecrets('abc in a text', [short])).toBe('abc in a text')
})

test('of a secret that begins with another one nothing is left', () => {
  expect(hideSecrets('password is team-prod-2026', ['team', 'team-prod-2026'])).toBe('password is <redacted>')
})
