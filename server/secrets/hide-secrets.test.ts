import { describe, expect, test } from 'vitest'
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

describe('a secret that is a word of ours is not given away by what is hidden', () => {
  const lines = [
    '{"level":40,"time":1795420800000,"pid":7,"hostname":"w-0","msg":"SSH_KNOWN_HOSTS: is required"}',
    '{"level":50,"err":{"type":"Error","message":"relation \\"watcher.tasks\\" does not exist","stack":"at migrate"}}',
    'deployment-watcher: startup failed: password authentication failed for user "postgres"',
    '{"status":"in progress","status_reason":"argocd does not answer","cause":"timeout"}',
  ]
  test.for(['watcher', 'deployment-watcher', 'level', 'time', 'hostname', 'task', 'postgres', 'argocd', 'timeout'])(
    '%s',
    (secret) => {
      for (const line of lines) expect(hideSecrets(line, [secret, 'another-secret-1'])).toBe(line)
    },
  )
  test('its other forms are hidden, and so is a longer secret that begins with it', () => {
    const basic = Buffer.from('me:watcher').toString('base64')
    expect(hideSecrets(`Basic ${basic}`, ['watcher'])).toMatch(/^Basic .*<redacted>/)
    expect(hideSecrets('watcher-2026 of watcher', ['watcher', 'watcher-2026'])).toBe('<redacted> of watcher')
  })
})
