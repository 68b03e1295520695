import { expect, test } from 'vitest'
import { emptyToken, rejectedField, requestOf } from './token-draft.ts'

const now = 1_795_420_800
const draft = { ...emptyToken, description: 'ci-shop' }

test.for([
  [draft, { description: 'ci-shop', expires: now + 90 * 86_400 }],
  [
    { ...draft, apps: ' shop-*, ,pay ' },
    { description: 'ci-shop', expires: now + 90 * 86_400, apps: ['shop-*', 'pay'] },
  ],
  [
    { ...draft, end: 'time', time: '2026-12-01T12:00' },
    { description: 'ci-shop', expires: 1_796_122_800 },
  ],
  [
    { ...draft, end: 'time' },
    { description: 'ci-shop', expires: 0 },
  ],
] as const)('the draft %j asks for %j', ([given, request]) => {
  expect(requestOf(given, now + 0.5, 'Europe/Berlin')).toEqual(request)
})

test.for([
  [emptyToken, 'description'],
  [{ ...draft, description: 'x'.repeat(256) }, 'description'],
  [{ ...draft, apps: 'x'.repeat(256) }, 'apps'],
  [{ ...draft, apps: Array.from({ length: 101 }, () => 'x').join() }, 'apps'],
  [draft, 'expires'],
] as const)('what the service rejects of %j is its %s', ([given, field]) => expect(rejectedField(given)).toBe(field))
