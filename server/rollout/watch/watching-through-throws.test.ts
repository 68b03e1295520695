import { describe, expect, test } from 'vitest'
import { anApplication, aSha, repository } from '../../../test/support/application-builder.ts'
import {
  aWatchedTask,
  aWriteDecision,
  forbiddenDiagnosis,
  noAnnotations,
  rolloutDeps,
} from '../../../test/support/rollout-builder.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { DeliveryController, ReadOutcome } from '../observed/delivery-controller.ts'
import { createRolloutWatcher } from './rollout-watcher.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'

const read = <Value>(value: Value): Promise<ReadOutcome<Value>> => Promise.resolve({ kind: 'read', value })
const commit = aSha('d')

/** Two tasks: one for `bad`, whose every surrounding a test may break, and one for `good`. Both are to be deployed. */
function aWorld(broken: string, how: 'throws' | 'rejects') {
  const clock = createVirtualClock()
  const ended: string[] = []
  let isBroken = true
  const refreshed = new Set<string>()
  const applicationOf = (name: string) =>
    anApplication({
      metadata: { name },
      ...(refreshed.has(name) ? { version: 11, revision: commit } : { version: 10 }),
    })
  const mayBreak = <Args extends readonly unknown[], Result>(name: string, call: (...args: Args) => Result) =>
    ((...args: Args): Result => {
      if (!isBroken || broken !== name || !JSON.stringify(args).includes('bad')) return call(...args)
      const fault = new Error(`a fault in ${name}`)
      if (how === 'throws') throw fault
      return Promise.reject(fault) as Result // what is called here is asynchronous
    }) as (...args: Args) => Result
  const controller: DeliveryController = {
    readApplication: mayBreak('readApplication', ({ name }) => read(applicationOf(name))),
    refreshApplication: mayBreak('refreshApplication', ({ name }) => {
      refreshed.add(name)
      return read(applicationOf(name))
    }),
    listApplications: () => read({ version: 10, applications: [applicationOf('bad'), applicationOf('good')] }),
    ...forbiddenDiagnosis,
    probe: () => read({}),
  }
  const deps: RolloutWatcherDeps = {
    ...rolloutDeps,
    controller,
    clock,
    annotations: mayBreak('annotations', () => noAnnotations),
    decideWriteBack: mayBreak('decideWriteBack', ({ app }) => aWriteDecision({ app })),
    queueWriteBack: mayBreak('queueWriteBack', async ({ taskId }) => {
      clock.setTimer(10, () => watcher.outcome(taskId, { kind: 'landed', commit, repository, branch: 'main' }))
      return true
    }),
    records: {
      saveProgress: mayBreak('saveProgress', async () => true),
      finish: mayBreak('finish', async ({ taskId }) => ended.push(taskId)),
    },
    onError: () => {},
  }
  const watcher = createRolloutWatcher(deps)
  return { clock, watcher, ended, mend: () => (isBroken = false) }
}

const aTask = (app: string) => aWatchedTask(app, { app })

const asynchronous = ['readApplication', 'refreshApplication', 'queueWriteBack', 'saveProgress', 'finish'] as const
const rows = [
  ...asynchronous.flatMap((place) => [{ place, how: 'throws' } as const, { place, how: 'rejects' } as const]),
  { place: 'annotations', how: 'throws' } as const,
  { place: 'decideWriteBack', how: 'throws' } as const,
]

describe('what fails as nobody expected holds up its own task only, and only as long as it fails', () => {
  test.for(rows)('$place $how', async ({ place, how }) => {
    const world = aWorld(place, how)
    await using _ = world.watcher
    world.watcher.watch([aTask('bad'), aTask('good')])
    await world.clock.advanceTo(30_000)
    expect(world.ended).toEqual(['good'])
    world.mend()
    await world.clock.advanceTo(90_000)
    expect(world.ended).toEqual(['good', 'bad'])
  })
})
