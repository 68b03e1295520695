import { describe, expect, test } from 'vitest'
import { anApplication } from '../../../test/support/application-builder.ts'
import { aSnapshot } from '../../../test/support/rollout-builder.ts'
import { evaluate } from './conditions/evaluate.ts'
import { startMemory } from './input/rollout-memory.ts'
import { nothingRefreshed } from './input/rollout-observation.ts'
import { nextRefreshAtMs } from './refresh-policy.ts'

const acceptedAtMs = 1_000
const application = anApplication({ version: 5 })
const { uid, version, revisions, reconciledAtMs, images } = application
const baseline = { uid, version, revisions, reconciledAtMs, images, operation: undefined, isBeforeCommit: true }

type Case = {
  readonly refresh?: boolean
  readonly isCompared?: boolean
  readonly isChangeVisible?: boolean
  readonly lastAskedAtMs?: number
  readonly fromMs?: number
}

/** When refreshes of a task without a commit are requested within a time, in seconds after acceptance. */
function refreshesWithin(seconds: number, { isCompared = true, isChangeVisible = false, ...of }: Case = {}) {
  const { refresh = true, lastAskedAtMs, fromMs = acceptedAtMs } = of
  const before = { ...baseline, ...(isCompared ? { comparedVersion: 5 } : {}), ...(isChangeVisible && { images: [] }) }
  let memory = { ...startMemory(before, acceptedAtMs), refreshFromMs: fromMs }
  let refreshes = { ...nothingRefreshed, lastAskedAtMs, refreshIdleAtMs: fromMs }
  const asked: number[] = []
  for (;;) {
    const observation = { refresh: refreshes }
    const snapshot = aSnapshot(application, { task: { refresh, acceptedAtMs }, baseline: before, observation })
    const atMs = nextRefreshAtMs(evaluate(snapshot), memory)
    if (atMs === undefined || atMs > acceptedAtMs + seconds * 1_000) return asked
    asked.push((atMs - acceptedAtMs) / 1_000)
    memory = { ...memory, refreshAsks: memory.refreshAsks + 1, refreshAskedAtMs: atMs }
    refreshes = { ...refreshes, lastAskedAtMs: atMs, answered: { beganAfterMs: fromMs, version } }
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
    { name: 'never with refresh: false', fields: { refresh: false }, at: [] },
    {
      name: 'not at all where an earlier owner was answered and the change is visible',
      fields: { isChangeVisible: true },
      at: [],
    },
    {
      name: 'again while no comparison after acceptance is known',
      fields: { isChangeVisible: true, isCompared: false },
      at: [0, 5, 20],
    },
    { name: '5 s after another task requested one', fields: { lastAskedAtMs: acceptedAtMs - 2_000 }, at: [3, 8, 23] },
    { name: 'as often as its age says after a restart', fields: { fromMs: acceptedAtMs + 200_000 }, at: [200, 230] },
  ])('$name', ({ fields, at }) => {
    const seconds = (at.at(-1) ?? 0) + 10
    expect(refreshesWithin(seconds, fields)).toEqual(at)
  })
})
