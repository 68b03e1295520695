import { expect, test } from 'vitest'
import { liveness, type ReadState } from './liveness.ts'

const now = 1_000_000
const refusal = new Error('not found')
const ok = (ageMs: number): ReadState => ({ status: 'success', dataUpdatedAt: now - ageMs, error: null })
const failing = (ageMs: number, error = new Error('no answer')): ReadState => ({
  status: 'error',
  dataUpdatedAt: now - ageMs,
  error,
})
const live = { kind: 'live' } as const

test.for([
  ['nothing on the page', [], live],
  ['old data of a finished task', [ok(900_000)], live],
  ['a failed read 20 s after the last good one', [failing(20_000)], live],
  ['a failed read later than that', [failing(20_001)], { kind: 'stale', since: now - 20_001 }],
  ['the oldest of several', [ok(0), failing(30_000), failing(44_000)], { kind: 'stale', since: now - 44_000 }],
  ['a page that never had data', [failing(now)], { kind: 'unanswered' }],
  ['a task that does not exist', [failing(now, refusal)], live],
  ['a task that was removed while it was open', [failing(60_000, refusal)], live],
] as const)('%s', ([, reads, expected]) => {
  expect(liveness(reads, now, (error) => error === refusal)).toEqual(expected)
})
