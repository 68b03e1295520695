import { expect, test } from 'vitest'
import { seededRandom } from '../../../simulator/model/random.ts'
import { type ApplicationFields, anApplication, aSha, repository } from '../../../test/support/application-builder.ts'
import { aWatchedTask, aWriteDecision, forbiddenDiagnosis, rolloutDeps } from '../../../test/support/rollout-builder.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { TaskResult } from '../../deployments/task.ts'
import { createRolloutWatcher } from './rollout-watcher.ts'

const lagMs = 60_000
const listEveryMs = 60_000
const rollouts = 500
const commit = aSha('d')
const shop = (tag: string) => `registry.example/shop:${tag}`

/** Times and states of a rollout of our commit, as Kubernetes has them. */
function aRollout(random: () => number) {
  const comparedMs = 1_000 + random() * 10_000
  const appliedMs = comparedMs + random() * 3_000
  const healthyMs = appliedMs + 3_000 + random() * 60_000
  const states: readonly (readonly [number, ApplicationFields])[] = [
    [0, { version: 10, images: [shop('v1')] }],
    [comparedMs, { version: 11, sync: 'OutOfSync', revision: commit, images: [shop('v1')] }],
    [appliedMs, { version: 12, health: 'Progressing', revision: commit, images: [shop('v1'), shop('v2')] }],
    [healthyMs, { version: 13, revision: commit, images: [shop('v2')] }],
  ]
  const stateAt = (atMs: number) => anApplication(states.findLast(([fromMs]) => fromMs <= Math.max(0, atMs))?.[1])
  return { healthyMs, states, stateAt }
}

/** Watches it while everything but a direct read is a minute old, and three events of ten are lost. */
async function watch(seed: number): Promise<{ end: TaskResult | undefined; lateMs: number }> {
  const random = seededRandom(seed)
  const clock = createVirtualClock()
  const { healthyMs, states, stateAt } = aRollout(random)
  const listed = () => ({ version: 10, applications: [stateAt(clock.nowMs() - lagMs)] })
  let ended: { end: TaskResult; atMs: number } | undefined
  await using watcher = createRolloutWatcher({
    ...rolloutDeps,
    controller: {
      readApplication: async () => ({ kind: 'read', value: stateAt(clock.nowMs()) }),
      refreshApplication: async () => ({ kind: 'asked' }),
      listApplications: async () => ({ kind: 'read', value: listed() }),
      ...forbiddenDiagnosis,
      probe: async () => ({ kind: 'read', value: {} }),
    },
    clock,
    decideWriteBack: () => aWriteDecision(),
    records: {
      ...rolloutDeps.records,
      finish: async (_, end) => (ended = { end, atMs: clock.nowMs() }),
    },
  })
  for (const [atMs] of states)
    if (random() >= 0.3) clock.setTimer(atMs + lagMs, () => watcher.updated('seen', stateAt(atMs)))
  const list = () => {
    watcher.listed(listed(), clock.nowMs())
    clock.setTimer(listEveryMs, list)
  }
  clock.setTimer(random() * listEveryMs, list)
  watcher.watch([aWatchedTask('1')])
  await clock.advanceTo(500)
  watcher.outcome('1', { kind: 'landed', commit, repository, branch: 'main' })
  await clock.advanceTo(300_000)
  return { end: ended?.end, lateMs: (ended?.atMs ?? Number.NaN) - healthyMs }
}

test('where no event ever shows the end of a refresh, direct reads show it within seconds', async () => {
  const clock = createVirtualClock()
  let version = 10
  let endedAtMs: number | undefined
  const shown = () => anApplication({ version })
  await using watcher = createRolloutWatcher({
    ...rolloutDeps,
    controller: {
      readApplication: async () => ({ kind: 'read', value: shown() }),
      async refreshApplication() {
        version += 1
        await new Promise<void>((resolve) => void clock.setTimer(2_000, resolve))
        return { kind: 'asked' }
      },
      listApplications: async () => ({ kind: 'unreachable', why: 'slow' }),
      ...forbiddenDiagnosis,
      probe: async () => ({ kind: 'read', value: {} }),
    },
    clock,
    records: {
      ...rolloutDeps.records,
      async finish(_, { status }) {
        if (status === 'deployed') endedAtMs = clock.nowMs()
        return true
      },
    },
  })
  watcher.watch([aWatchedTask('1')])
  await clock.advanceTo(100_000)
  expect(endedAtMs).toBeLessThanOrEqual(10_000)
})

test(`of ${rollouts} rollouts seen through caches that are a minute old, none is deployed before it is`, async () => {
  let latestMs = 0
  for (let seed = 1; seed <= rollouts; seed += 1) {
    const { end, lateMs } = await watch(seed)
    expect({ seed, status: end?.status, isEarly: lateMs < 0 }).toEqual({ seed, status: 'deployed', isEarly: false })
    latestMs = Math.max(latestMs, lateMs)
  }
  expect(latestMs).toBeLessThanOrEqual(lagMs + listEveryMs + 10_000)
})
