import { expect, test } from 'vitest'
import { notLiveSince } from './data-age.ts'

const now = 1_000_000
const ok = (ageMs: number) => ({ status: 'success' as const, dataUpdatedAt: now - ageMs })
const failing = (ageMs: number) => ({ status: 'error' as const, dataUpdatedAt: now - ageMs })

test.for([
  ['nothing on the page', [], undefined],
  ['old data of a finished task', [ok(900_000)], undefined],
  ['a failed read of 20 s ago', [failing(20_000)], undefined],
  ['a failed read of longer ago', [failing(20_001)], now - 20_001],
  ['the oldest of several', [ok(0), failing(30_000), failing(44_000)], now - 44_000],
  ['a page that never had data', [{ status: 'error' as const, dataUpdatedAt: 0 }], undefined],
] as const)('%s', ([, reads, since]) => expect(notLiveSince(reads, now)).toBe(since))
