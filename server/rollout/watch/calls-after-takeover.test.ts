import { describe, expect, test } from 'vitest'
import { anApplication, aSha, repository } from '../../../test/support/application-builder.ts'
import { aWatchedTask, rolloutDeps } from '../../../test/support/rollout-builder.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { WatchedTask } from '../judge/input/watched-task.ts'
import type { ApplicationAddress, DeliveryController } from '../observed/delivery-controller.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import { createCallLimiter } from './call-limiter.ts'
import { createRolloutWatcher } from './rollout-watcher.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'

/** A replica whose share of the calls is `callsPerSecond`, and Argo CD, in which all applications look as `shown` says. */
function aReplica(
  shown: Parameters<typeof anApplication>[0],
  { replicas = 1, ...deps }: Partial<RolloutWatcherDeps> & { readonly replicas?: number } = {},
) {
  const clock = createVirtualClock()
  const calls: { kind: string; app: string; atMs: number }[] = []
  const statuses: string[] = []
  const named = (name: string) => anApplication({ uid: name, metadata: { name }, ...shown })
  const answering =
    <Value>(kind: string, value: (app: ObservedApplication) => Value) =>
    async ({ name }: ApplicationAddress) => {
      calls.push({ kind, app: name, atMs: clock.nowMs() })
      return { kind: 'read', value: value(named(name)) } as const
    }
  const controller: DeliveryController = {
    readApplication: answering('read', (application) => application),
    refreshApplication: answering('refresh', (application) => application),
    readResourceTree: answering('tree', () => ({ pods: [], resources: [] })),
    readManagedResources: answering('managed_resources', () => ({
      liveImages: ['registry.example/shop:v1'],
      declaredImages: ['registry.example/shop:v1'],
      hasForeignKinds: false,
    })),
    readSyncWindows: async () => ({ kind: 'forbidden' }),
    readEvents: async () => ({ kind: 'forbidden' }),
    readLivePod: async () => ({ kind: 'forbidden' }),
    listApplications: async () => ({ kind: 'unreachable', why: 'too large' }),
    probe: async () => ({ kind: 'read', value: {} }),
  }
  const watcher = createRolloutWatcher({
    ...rolloutDeps,
    controller,
    clock,
    limiter: createCallLimiter(clock, () => replicas),
    records: { ...rolloutDeps.records, finish: async (_, { status }) => statuses.push(status) > 0 },
    ...deps,
  })
  return {
    watcher,
    clock,
    calls,
    statuses,
    busiest: () => busiestSecond(calls.map(({ atMs }) => atMs)),
    show: (app: string) => watcher.updated('seen', named(app)),
    list: (apps: readonly string[]) => watcher.listed({ version: 100, applications: apps.map(named) }, clock.nowMs()),
  }
}

const commit = aSha('d')
const writeBackOutcome = { kind: 'landed', commit, repository, branch: 'main' } as const
const names = (count: number) => Array.from({ length: count }, (_, at) => `app-${at}`)
const aTask = (app: string, more: Partial<WatchedTask> = {}) => aWatchedTask(app, { app, mayWrite: false, ...more })
const takenOver = (app: string, more: Partial<WatchedTask> = {}) =>
  aTask(app, { claim: { taskId: app, owner: 'replica', fence: '2' }, writeBackOutcome, ...more })

test.for([
  { name: 'waits until the last minute', deadlineMs: 65_000 },
  { name: 'comes within the last minute', deadlineMs: 25_000 },
])('finished rollouts whose confirming read $name are confirmed in time', async ({ deadlineMs }) => {
  const { watcher, clock, list, statuses } = aReplica({ revision: commit }, { replicas: 4 })
  await using _ = watcher
  const apps = names(750)
  watcher.watch(apps.map((app) => takenOver(app, { deadlineMs })))
  list(apps)
  await clock.advanceTo(deadlineMs + 10_000)
  expect(statuses).toEqual(apps.map(() => 'deployed'))
})

test('a task that was taken over long ago is refreshed as often as any other beside slow rollouts', async () => {
  const { watcher, clock, list, show, calls } = aReplica({ health: 'Progressing', revision: commit })
  await using _ = watcher
  const apps = names(800)
  watcher.watch(apps.map((app) => aTask(app, { writeBackOutcome })))
  list(apps)
  await clock.advanceTo(60_000)
  const claim = { taskId: 'shop', owner: 'replica', fence: '2' }
  watcher.watch([aTask('shop', { claim, acceptedAtMs: 60_000 })])
  show('shop')
  await clock.advanceTo(115_000)
  const refreshed = calls.filter(({ kind, app }) => kind === 'refresh' && app === 'shop')
  expect(refreshed.map(({ atMs }) => Math.round((atMs - 60_000) / 500) / 2)).toEqual([0, 5, 20, 35, 50])
}, 180_000) // 800 rollouts for two virtual minutes take five seconds of a processor

describe('after a restart no second has more than 50 calls', () => {
  test.for([
    { name: 'for commits without effect', shown: { images: ['registry.example/shop:v1'] }, isStrict: false },
    { name: 'for Pods in strict mode', shown: {}, isStrict: true },
  ])('$name', async ({ shown, isStrict }) => {
    const settings = { ...rolloutDeps.settings, isStrict }
    const { watcher, clock, list, calls, busiest } = aReplica({ revision: commit, ...shown }, { settings })
    await using _ = watcher
    const apps = names(300)
    watcher.watch(apps.map((app) => takenOver(app)))
    list(apps)
    await clock.advanceTo(15_000)
    expect(calls.length).toBeGreaterThan(300)
    expect(busiest()).toBeLessThanOrEqual(50)
  })
})

test('what only explains a commit without effect waits in line', async () => {
  const { watcher, clock, list, calls } = aReplica({ revision: commit, images: ['registry.example/shop:v1'] })
  await using _ = watcher
  const apps = names(300)
  watcher.watch(apps.map((app) => aTask(app, { writeBackOutcome })))
  list(apps)
  await clock.advanceTo(15_000)
  const explaining = calls.filter(({ kind }) => kind === 'managed_resources').map(({ atMs }) => atMs)
  expect(explaining.length).toBeGreaterThanOrEqual(300)
  expect(busiestSecond(explaining)).toBeLessThanOrEqual(50)
})

/** The most calls that began within any one second, wherever it begins. */
function busiestSecond(callsAtMs: readonly number[]): number {
  return Math.max(0, ...callsAtMs.map((fromMs) => callsAtMs.filter((ms) => ms >= fromMs && ms < fromMs + 1_000).length))
}
