import { expect, test } from 'vitest'
import type { ConnectionState } from '../live/live-connection.ts'
import { liveness, type ReadState } from './liveness.ts'

const now = 1_000_000
const rejection = new Error('not found')
const ok = (ageMs: number): ReadState => ({ status: 'success', dataUpdatedAt: now - ageMs, error: null })
const failing = (ageMs: number, error = new Error('no answer')): ReadState => ({
  status: 'error',
  dataUpdatedAt: now - ageMs,
  error,
})
const live = { kind: 'live' } as const
const cut = (attempts: number, agoMs = 9_000) =>
  ({ kind: 'cut', sinceMs: now - agoMs, attempts, nextTryMs: now + 1_000 }) as const

test.for<[string, readonly ReadState[], ConnectionState, object]>([
  ['nothing on the page', [], live, live],
  ['old data of a finished task', [ok(900_000)], live, live],
  ['a failed read 20 s after the last good one', [failing(20_000)], live, live],
  ['a failed read later than that', [failing(20_001)], live, { kind: 'stale', since: now - 20_001 }],
  ['the oldest of several', [ok(0), failing(30_000), failing(44_000)], live, { kind: 'stale', since: now - 44_000 }],
  ['a page that never had data', [failing(now)], live, { kind: 'unanswered' }],
  ['a task that does not exist', [failing(now, rejection)], live, live],
  ['a task that was removed while it was open', [failing(60_000, rejection)], live, live],
  ['a stream that is not open yet', [ok(0)], { kind: 'connecting' }, { kind: 'connecting' }],
  ['a stream that was cut this second', [ok(0)], cut(1), { kind: 'connecting' }],
  ['a stream that does not come back, with good reads', [ok(0)], cut(2), { kind: 'cut', since: now - 9_000 }],
  ['neither stream nor reads', [failing(30_000)], cut(5, 40_000), { kind: 'stale', since: now - 30_000 }],
  ['old data, kept up to date until a cut', [failing(900_000)], cut(5, 25_000), { kind: 'stale', since: now - 25_000 }],
  ['the same 9 s after the cut', [failing(900_000)], cut(2), { kind: 'cut', since: now - 9_000 }],
])('%s', ([, reads, connection, expected]) => {
  expect(liveness(reads, connection, now, (error) => error === rejection)).toEqual(expected)
})
