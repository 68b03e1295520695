import { expect, test } from 'vitest'
import { emptyDraft, endOfDraft, rejectedField } from './lock-ends.ts'

const now = Date.parse('2026-11-19T14:32Z') / 1000

test.for([
  { draft: { end: '30' as const }, end: now + 1_800 },
  { draft: { end: 'released' as const }, end: null },
  { draft: { end: 'window' as const }, end: now + 5 },
  { draft: { end: 'time' as const }, end: undefined },
  { draft: { end: 'time' as const, time: '2026-11-19T17:30' }, end: Date.parse('2026-11-19T16:30Z') / 1000 },
])('a draft that ends by $draft ends at $end', ({ draft, end }) => {
  const lock = { next_window: { from: now + 5, to: null } }
  expect(endOfDraft({ ...emptyDraft, ...draft }, lock, now, 'Europe/Stockholm')).toBe(end)
})

test.for([
  [{ reason: 'x'.repeat(501), until: 1 }, 'reason'],
  [{ reason: 'OPS-2', until: 1 }, 'end'],
  [undefined, 'end'],
] as const)('of %j the %s is rejected', ([sent, field]) => expect(rejectedField(sent)).toBe(field))
