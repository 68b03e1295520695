import { describe, expect, test } from 'vitest'
import { nextRefreshAtMs, type RefreshNeed } from './refresh-policy.ts'

const acceptedAtMs = 1_000
const withoutCommit: RefreshNeed = {
  mayRefresh: true,
  hasCommit: false,
  isRevisionMet: true,
  isChangeVisible: false,
  acceptedAtMs,
  awaitingComparisonSinceMs: undefined,
  fromMs: acceptedAtMs,
  asks: 0,
  askedAtMs: undefined,
  anyAskedAtMs: undefined,
  foreignSinceMs: undefined,
  isClear: true,
  wasClear: true,
}

/** When refreshes are requested within a time, in seconds after acceptance. */
function refreshesWithin(seconds: number, fields: Partial<RefreshNeed> = {}): readonly number[] {
  let need: RefreshNeed = { ...withoutCommit, ...fields }
  const asked: number[] = []
  for (;;) {
    const atMs = nextRefreshAtMs(need)
    if (atMs === undefined || atMs > acceptedAtMs + seconds * 1_000) return asked
    asked.push((atMs - acceptedAtMs) / 1_000)
    need = { ...need, asks: need.asks + 1, askedAtMs: atMs, anyAskedAtMs: atMs }
  }
}

describe('a task without a commit of ours is refreshed (decision 0015)', () => {
  test('at once, after 5 s, every 15 s for two minutes, every 30 s up to five, every 60 s after', () => {
    expect(refreshesWithin(600)).toEqual([
      ...[0, 5, 20, 35, 50, 65, 80, 95, 110, 125],
      ...[155, 185, 215, 245, 275, 305],
      ...[365, 425, 485, 545],
    ])
  })

  test.for([
    { name: 'never with refresh: false', fields: { mayRefresh: false }, at: [] },
    {
      name: 'not at all where an earlier owner was answered and the change is visible',
      fields: { isChangeVisible: true },
      at: [],
    },
    {
      name: 'again while no comparison after acceptance is known',
      fields: { isChangeVisible: true, isRevisionMet: false },
      at: [0, 5, 20],
    },
    { name: '5 s after another task requested one', fields: { anyAskedAtMs: acceptedAtMs - 2_000 }, at: [3, 8, 23] },
    { name: 'as often as its age says after a restart', fields: { fromMs: acceptedAtMs + 200_000 }, at: [200, 230] },
  ])('$name', ({ fields, at }) => {
    const seconds = (at.at(-1) ?? 0) + 10
    expect(refreshesWithin(seconds, fields)).toEqual(at)
  })
})
