import { expect, test } from 'vitest'
import type { Posted } from '../http/outgoing/post.ts'
import { faultOf } from './api-fault.ts'

const answered = (status: number, text = '{}', retryAfterMs?: number): Posted => ({
  kind: 'answered',
  status,
  text,
  retryAfterMs,
})

test.for<[string, Posted, object | undefined]>([
  ['200', answered(200), undefined],
  ['201', answered(201), undefined],
  ['401', answered(401), { kind: 'unauthorized' }],
  ['403 with a time', answered(403, '{}', 90_000), { kind: 'passing', afterMs: 90_000 }],
  ['403 of a rate limit', answered(403, '{"message":"a secondary rate limit"}'), { kind: 'passing', afterMs: 60_000 }],
  ['403', answered(403), { kind: 'blocked', error: 'not installed' }],
  ['404', answered(404), { kind: 'blocked', error: 'not installed' }],
  ['408', answered(408), { kind: 'passing' }],
  ['409', answered(409, '{"message":"Conflict"}'), { kind: 'final', error: 'GitHub answered 409: Conflict' }],
  ['422', answered(422, '{"message":"No ref\\nfound"}'), { kind: 'final', error: 'GitHub answered 422: No ref found' }],
  ['429', answered(429, '{}', 5_000), { kind: 'passing', afterMs: 5_000 }],
  ['502 of a proxy', answered(502, '<html>'), { kind: 'passing', error: 'GitHub answered 502' }],
  ['a redirect', answered(301), { kind: 'final' }],
  [
    'GitLab, 400',
    answered(400, '{"message":{"ref":["is bad"]}}'),
    { error: 'GitHub answered 400: {"ref":["is bad"]}' },
  ],
  ['nothing', { kind: 'unanswered', error: 'no answer' }, { kind: 'passing', error: 'GitHub: no answer' }],
  ['an address not allowed', { kind: 'refused', error: 'not allowed' }, { kind: 'final' }],
])('%s', ([, answer, expected]) => {
  const fault = faultOf(answer, 'GitHub', 'not installed')
  if (expected === undefined) expect(fault).toBeUndefined()
  else expect(fault).toMatchObject(expected)
})
