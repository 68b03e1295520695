import { describe, expect, test } from 'vitest'
import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { anApplication, aRawApplication, aSha, repository } from '../../../test/support/application-builder.ts'
import { succeeded } from '../../../test/support/judge-looks.ts'
import { aWatchedTask, aWriteDecision, forbiddenDiagnosis, rolloutDeps } from '../../../test/support/rollout-builder.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import { parseApplication } from '../../argo-cd/parse/parse-application.ts'
import { createRateLimiter } from '../../concurrency/rate-limiter.ts'
import type { Claim, TaskResult } from '../../deployments/task.ts'
import type { Baseline, WatchedTask } from '../judge/input/watched-task.ts'
import type { DeliveryController } from '../observed/delivery-controller.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import { createRolloutWatcher } from './rollout-watcher.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'

type World = {
  application: ObservedApplication | undefined
  isDown: boolean
  readonly reads: { get: number; list: number; probe: number; refresh: number }
}

function aWatcher(more: Partial<RolloutWatcherDeps> = {}, clock = createVirtualClock()) {
  const world: World = {
    application: anApplication({ version: 5 }),
    isDown: false,
    reads: { get: 0, list: 0, probe: 0, refresh: 0 },
  }
  const ends = new Map<string, { end: TaskResult; atMs: number }>()
  const saved: string[] = []
  const troubles: unknown[] = []
  const down = { kind: 'unreachable', why: 'connection refused' } as const
  const get = async () => {
    world.reads.get += 1
    if (world.isDown) return down
    return world.application === undefined
      ? ({ kind: 'forbidden' } as const)
      : ({ kind: 'read', value: world.application } as const)
  }
  const controller: DeliveryController = {
    readApplication: get,
    async refreshApplication() {
      world.reads.refresh += 1
      if (world.application === undefined || world.isDown) return world.isDown ? down : { kind: 'forbidden' }
      world.application = { ...world.application, version: world.application.version + 2 }
      return { kind: 'read', value: world.application }
    },
    async listApplications() {
      world.reads.list += 1
      if (world.isDown) return down
      return {
        kind: 'read',
        value: { version: 100, applications: world.application === undefined ? [] : [world.application] },
      }
    },
    ...forbiddenDiagnosis,
    async probe() {
      world.reads.probe += 1
      return world.isDown ? down : { kind: 'read', value: {} }
    },
  }
  const watcher = createRolloutWatcher({
    ...rolloutDeps,
    controller,
    clock,
    records: {
      async saveProgress(_, { progress, appUrl, baseline }, events) {
        saved.push(
          ...[progress, appUrl, baseline && 'baseline'].filter((text) => text !== undefined),
          ...events.map(({ kind }) => kind),
        )
        return true
      },
      async finish({ taskId }, end) {
        ends.set(taskId, { end, atMs: clock.nowMs() })
        return true
      },
    },
    onError: (_message, error) => troubles.push(error),
    ...more,
  })
  return { watcher, clock, world, ends, saved, troubles }
}

/** Ten calls a second that only explain. */
function aLimitedWatcher(maxRunning = 100) {
  const clock = createVirtualClock()
  const limiter = createRateLimiter({ clock, perSecond: () => 10, maxSavedSeconds: 0, maxRunning })
  return aWatcher({ limiter }, clock)
}

/** Records that keep what is saved, for another owner and for looks. */
function keptRecords() {
  const baselines: Baseline[] = []
  const diagnoses: Diagnosis[] = []
  const events: string[] = []
  const records: RolloutWatcherDeps['records'] = {
    ...rolloutDeps.records,
    async saveProgress(_, { baseline, diagnosis }, more) {
      if (baseline !== undefined) baselines.push(baseline as Baseline)
      if (diagnosis !== undefined) diagnoses.push(diagnosis)
      events.push(...more.map(({ kind }) => kind))
      return true
    },
  }
  return { baselines, diagnoses, events, records }
}

const aTask = (id: string, more: Partial<WatchedTask> = {}) => aWatchedTask(id, { mayWrite: false, ...more })

test('a watched task is deployed after a refresh and two seconds, with its link saved and at most four calls', async () => {
  const { watcher, clock, world, ends, saved } = aWatcher()
  await using _ = watcher
  watcher.watch([aTask('1')])
  await clock.advanceTo(2_500)
  expect(ends.get('1')).toMatchObject({ end: { status: 'deployed' }, atMs: 2_000 })
  expect(world.reads).toEqual({ get: 2, list: 0, probe: 0, refresh: 1 })
  expect(saved).toContain('https://argocd.example/applications/argocd/shop')
  expect(saved[0]).toBe('waiting for the final check')
  expect(watcher.watchedCount()).toBe(0)
  expect(clock.timerCount()).toBe(0)
})

test('the tasks of one application share one refresh', async () => {
  const { watcher, clock, world, ends } = aWatcher()
  await using _ = watcher
  watcher.watch(['1', '2', '3'].map((id) => aTask(id)))
  await clock.advanceTo(3_000)
  expect([...ends.values()].map(({ end }) => end.status)).toEqual(['deployed', 'deployed', 'deployed'])
  expect(world.reads.refresh).toBe(1)
})

test('a new owner goes on counting since when a condition is not met', async () => {
  const stored: Diagnosis[] = []
  let baseline: Baseline | undefined
  const records = {
    ...rolloutDeps.records,
    saveProgress: async (_: Claim, change: { readonly diagnosis?: Diagnosis; readonly baseline?: Baseline }) => {
      if (change.diagnosis !== undefined) stored.push(change.diagnosis)
      baseline = change.baseline ?? baseline
      return true
    },
  }
  const first = aWatcher({ records })
  first.world.application = anApplication({ version: 5, health: 'Progressing' })
  first.watcher.watch([aWatchedTask('1')])
  await first.clock.advanceTo(10_000)
  const healthySince = () => stored.at(-1)?.conditions.find(({ name }) => name === 'healthy')?.since
  const since = healthySince()
  const second = aWatcher({ records })
  second.world.application = anApplication({ version: 5, health: 'Progressing' })
  second.watcher.watch([aWatchedTask('1', { diagnosis: stored.at(-1), baseline, acceptedAtMs: -60_000 })])
  stored.length = 0
  await second.clock.advanceTo(10_000)
  expect(since).toBeGreaterThan(0)
  expect(healthySince()).toBe(since)
})

describe('commits of one application that land one after another', () => {
  const decideWriteBack = () => aWriteDecision()
  const landed = (digit: string) => ({ kind: 'landed', commit: aSha(digit), repository, branch: 'main' }) as const
  const anotherTask = (id: string) => aTask(id, { images: [{ image: `registry.example/shop-${id}`, tag: 'v2' }] })

  test('share one refresh, asked when the last of them is there (decision 0017)', async () => {
    const { watcher, clock, world } = aWatcher({ decideWriteBack })
    await using _ = watcher
    watcher.watch(['1', '2', '3'].map(anotherTask))
    await clock.advanceTo(100)
    watcher.outcome('1', landed('1'))
    watcher.outcome('2', landed('2'))
    await clock.advanceTo(1_000)
    expect(world.reads.refresh).toBe(0)
    watcher.outcome('3', landed('3'))
    await clock.advanceTo(1_001)
    expect(world.reads.refresh).toBe(1)
  })

  test('share the read before them for ten seconds, as long as one is on its way', async () => {
    const { watcher, clock, world } = aWatcher({ decideWriteBack })
    await using _ = watcher
    for (let at = 0; at < 20; at += 1) {
      watcher.watch([anotherTask(String(at))])
      await clock.advanceTo((at + 1) * 450)
    }
    expect(world.reads.get).toBe(1)
    for (let at = 0; at < 20; at += 1) watcher.outcome(String(at), landed('1'))
    watcher.watch([anotherTask('20')])
    await clock.advanceTo(9_001)
    expect(world.reads.get).toBe(2)
  })

  test('are refreshed at once when the last of them ends without a commit', async () => {
    const { watcher, clock, world } = aWatcher({ decideWriteBack })
    await using _ = watcher
    watcher.watch(['1', '2'].map(anotherTask))
    await clock.advanceTo(100)
    watcher.outcome('1', landed('1'))
    await clock.advanceTo(500)
    watcher.outcome('2', { kind: 'refused', cause: 'git_refused', reason: 'no' })
    await clock.advanceTo(501)
    expect(world.reads.refresh).toBe(1)
  })

  test('do not wait longer than 2 s for one that does not get through', async () => {
    const { watcher, clock, world } = aWatcher({ decideWriteBack })
    await using _ = watcher
    watcher.watch(['1', '2'].map(anotherTask))
    await clock.advanceTo(100)
    watcher.outcome('1', landed('1'))
    await clock.advanceTo(2_099)
    expect(world.reads.refresh).toBe(0)
    await clock.advanceTo(2_101)
    expect(world.reads.refresh).toBe(1)
  })

  test('wait for each other also where an earlier wait turned out to be needless', async () => {
    const { watcher, clock, world } = aWatcher({ decideWriteBack, ancestry: async () => 'descendant' })
    await using _ = watcher
    world.application = anApplication({ version: 5, health: 'Progressing' })
    watcher.watch(['1', '2'].map(anotherTask))
    await clock.advanceTo(100)
    watcher.outcome('1', landed('1'))
    await clock.advanceTo(500)
    world.application = anApplication({ version: 9, health: 'Progressing', revision: aSha('1') })
    watcher.updated('seen', world.application)
    watcher.outcome('2', landed('1'))
    await clock.advanceTo(5_000)
    expect(world.reads.refresh).toBe(0)
    watcher.watch(['3', '4'].map(anotherTask))
    await clock.advanceTo(5_100)
    watcher.outcome('3', landed('2'))
    await clock.advanceTo(6_000)
    expect(world.reads.refresh).toBe(0)
    watcher.outcome('4', landed('2'))
    await clock.advanceTo(6_001)
    expect(world.reads.refresh).toBe(1)
  })
})

test('tasks that come one after another share a read a second', async () => {
  const { watcher, clock, world } = aWatcher()
  await using _ = watcher
  for (let at = 0; at < 20; at += 1) {
    watcher.watch([aTask(String(at), { images: [{ image: `registry.example/shop-${at}`, tag: 'v2' }] })])
    await clock.advanceTo(at * 50)
  }
  expect(watcher.watchedCount()).toBe(20)
  expect(world.reads.get).toBe(1)
})

test('an application that does not exist is told within three seconds, naming both causes', async () => {
  const { watcher, clock, world, ends } = aWatcher()
  await using _ = watcher
  world.application = undefined
  watcher.watch([aTask('1')])
  await clock.advanceTo(3_000)
  expect(ends.get('1')?.end).toMatchObject({
    status: 'app not found',
    cause: 'app_not_found',
    reason: expect.stringMatching(/no application of this name(.|\n)* the service may not see it/),
  })
  expect(world.reads.list).toBe(2)
})

describe('an application that may still appear', () => {
  const appearByMs = 300_000

  test('is waited for without a call, and judged from the event that shows it', async () => {
    const { watcher, clock, world, ends, saved } = aWatcher()
    await using _ = watcher
    const appeared = anApplication({ version: 50 })
    world.application = undefined
    watcher.watch([aTask('1', { appearByMs })])
    await clock.advanceTo(200_000)
    expect(world.reads).toMatchObject({ get: 1, list: 1, refresh: 0 })
    expect(saved).toEqual(['waiting for Argo CD to know the application', 'waiting_for'])
    world.application = appeared
    watcher.updated('seen', appeared)
    await clock.advanceTo(210_000)
    expect(ends.get('1')).toMatchObject({ end: { status: 'deployed' } })
  })

  test('ends its task when it does not appear in time, after a List and a read', async () => {
    const { watcher, clock, world, ends } = aWatcher()
    await using _ = watcher
    world.application = undefined
    watcher.watch([aTask('1', { appearByMs })])
    await clock.advanceTo(appearByMs + 3_000)
    expect(ends.get('1')?.end).toMatchObject({ status: 'app not found', cause: 'app_not_found' })
    expect(ends.get('1')?.atMs).toBeGreaterThanOrEqual(appearByMs)
    expect(world.reads.list).toBeLessThanOrEqual(3)
  })

  test('is found by the last look where the stream missed it', async () => {
    const { watcher, clock, world, ends } = aWatcher()
    await using _ = watcher
    world.application = undefined
    watcher.watch([aTask('1', { appearByMs })])
    await clock.advanceTo(100_000)
    world.application = anApplication({ version: 50 })
    await clock.advanceTo(appearByMs + 10_000)
    expect(ends.get('1')?.end.status).toBe('deployed')
  })

  test('does not end its task while Argo CD is away', async () => {
    const { watcher, clock, world, ends } = aWatcher()
    await using _ = watcher
    world.application = undefined
    watcher.watch([aTask('1', { appearByMs, deadlineMs: 600_000 })])
    await clock.advanceTo(290_000)
    world.isDown = true
    await clock.advanceTo(500_000)
    expect(ends.get('1')).toBeUndefined()
    world.isDown = false
    await clock.advanceTo(560_000)
    expect(ends.get('1')?.end.status).toBe('app not found')
  })

  const deleting = anApplication({
    version: 5,
    metadata: { uid: 'old', deletionTimestamp: '2026-11-21T15:00:09Z' },
  })

  test('is absent while it is being deleted, and another one of its name is judged anew', async () => {
    const { baselines, records } = keptRecords()
    const { watcher, clock, world } = aWatcher({ records })
    await using _ = watcher
    world.application = deleting
    watcher.watch([aTask('1', { appearByMs })])
    await clock.advanceTo(100_000)
    expect(world.reads.get).toBe(1)
    watcher.updated('deleted', deleting)
    world.application = anApplication({ version: 50, metadata: { uid: 'new' } })
    watcher.updated('seen', world.application)
    await clock.advanceTo(101_000)
    expect(baselines.at(-1)).toMatchObject({ uid: 'new', images: [], revisions: [] })
  })

  test('was never there where one was deleted from the start', async () => {
    const { watcher, clock, world, ends, saved } = aWatcher()
    await using _ = watcher
    world.application = deleting
    watcher.watch([aTask('1', { appearByMs })])
    await clock.advanceTo(100_000)
    world.application = undefined
    watcher.updated('deleted', deleting)
    await clock.advanceTo(appearByMs + 5_000)
    expect(ends.get('1')?.end).toMatchObject({ status: 'app not found', cause: 'app_not_found' })
    expect(saved).toContain('waiting for Argo CD to know the application')
    expect(world.reads.get).toBeLessThanOrEqual(3)
  })

  test('may come again where it is deleted within the wait, and nothing is read for that', async () => {
    const { watcher, clock, world } = aWatcher()
    await using _ = watcher
    world.application = anApplication({ version: 5, health: 'Progressing' })
    watcher.watch([aTask('1', { appearByMs })])
    await clock.advanceTo(10_000)
    const before = world.reads.get
    watcher.updated('deleted', anApplication({ version: 6, health: 'Progressing' }))
    world.application = undefined
    await clock.advanceTo(110_000)
    expect(world.reads.get).toBe(before)
  })

  test('is awaited by the next owner as by the first, who has said so, and is new where it appeared in between', async () => {
    const { baselines, diagnoses, events, records } = keptRecords()
    const first = aWatcher({ records })
    first.world.application = undefined
    first.watcher.watch([aTask('1', { appearByMs })])
    await first.clock.advanceTo(100_000)
    await first.watcher[Symbol.asyncDispose]()
    const second = aWatcher({ records })
    await using _ = second.watcher
    second.world.application = undefined
    const claim = { taskId: '1', owner: 'other', fence: '2' }
    const taken = { appearByMs: 200_000, acceptedAtMs: -100_000, diagnosis: diagnoses.at(-1), claim }
    second.watcher.watch([aTask('1', taken)])
    await second.clock.advanceTo(50_000)
    expect(events.filter((kind) => kind === 'waiting_for')).toHaveLength(1)
    const third = aWatcher({ records })
    await using __ = third.watcher
    third.world.application = anApplication({ version: 50 })
    third.watcher.watch([aTask('1', { ...taken, claim: { ...claim, fence: '3' } })])
    await third.clock.advanceTo(1_000)
    expect(baselines.at(-1)?.images).toEqual([])
  })

  test('is committed to once it is there', async () => {
    const queued: string[] = []
    const { watcher, clock, world } = aWatcher({
      decideWriteBack: () => aWriteDecision(),
      queueWriteBack: async ({ taskId }) => {
        queued.push(taskId)
        return true
      },
    })
    await using _ = watcher
    world.application = undefined
    watcher.watch([aWatchedTask('1', { appearByMs })])
    await clock.advanceTo(100_000)
    expect(queued).toEqual([])
    world.application = anApplication({ version: 50 })
    watcher.updated('seen', world.application)
    await clock.advanceTo(101_000)
    expect(queued).toEqual(['1'])
  })
})

test('a forbidden read of an application that Lists show ends nothing', async () => {
  const { watcher, clock, world, ends } = aWatcher()
  await using _ = watcher
  const { application } = world
  world.application = undefined
  watcher.watch([aTask('1')])
  world.application = application
  await clock.advanceTo(10_000)
  expect(ends.get('1')?.end.status).toBe('deployed')
})

test.for([
  { name: 'an older state than is known', answer: { version: 6 } },
  { name: 'a namesake in another namespace', answer: { version: 30, metadata: { namespace: 'team-a' } } },
])('a direct read that answers with $name confirms nothing', async ({ answer }) => {
  const { watcher, clock, world, ends } = aWatcher()
  await using _ = watcher
  watcher.watch([aTask('1')])
  await clock.advanceTo(100)
  watcher.updated('seen', anApplication({ version: 20 }))
  world.application = anApplication(answer)
  await clock.advanceTo(20_000)
  expect(ends.has('1')).toBe(false)
  world.application = anApplication({ version: 20 })
  await clock.advanceTo(60_000)
  expect(ends.get('1')?.end.status).toBe('deployed')
})

describe('with Argo CD unreachable', () => {
  test('one probe every five seconds stands for all tasks, and they go on once it is back', async () => {
    const { watcher, clock, world, ends } = aWatcher()
    await using _ = watcher
    world.isDown = true
    watcher.watch(Array.from({ length: 50 }, (__, index) => aTask(String(index), { app: `shop-${index}` })))
    await clock.advanceTo(1_000)
    expect(watcher.unreachable()?.why).toBe('connection refused')
    const { get } = world.reads
    await clock.advanceTo(61_000)
    expect(world.reads.get).toBe(get)
    expect(world.reads.probe).toBeLessThanOrEqual(14)
    expect(ends.size).toBe(0)
    world.isDown = false
    watcher.watch([aTask('real')])
    await clock.advanceTo(70_000)
    expect(ends.get('real')?.end.status).toBe('deployed')
  })

  test('a task ends aborted at its deadline', async () => {
    const { watcher, clock, world, ends } = aWatcher()
    await using _ = watcher
    world.isDown = true
    watcher.watch([aTask('1', { deadlineMs: 30_000 })])
    await clock.advanceTo(40_000)
    expect(ends.get('1')).toMatchObject({ atMs: 30_000, end: { status: 'aborted', cause: 'controller_unreachable' } })
  })
})

describe('records', () => {
  test('a task that was taken is dropped without a word', async () => {
    const records = { saveProgress: async () => false, finish: async () => true }
    const { watcher, clock, ends } = aWatcher({ records })
    await using _ = watcher
    watcher.watch([aTask('1')])
    await clock.advanceTo(10_000)
    expect(watcher.watchedCount()).toBe(0)
    expect(ends.size).toBe(0)
  })

  test('of two claims of a task the later one counts, whichever is heard of first', async () => {
    const fences: string[] = []
    const finish: RolloutWatcherDeps['records']['finish'] = async ({ fence }) => fences.push(fence) > 0
    const records = { saveProgress: async () => true, finish }
    const { watcher, clock } = aWatcher({ records })
    await using _ = watcher
    watcher.watch([aTask('1', { claim: { taskId: '1', owner: 'replica', fence: '10' } })])
    watcher.watch([aTask('1', { claim: { taskId: '1', owner: 'replica', fence: '9' } })])
    await clock.advanceTo(10_000)
    expect(fences).toEqual(['10'])
  })

  test('a task that is claimed twice at its start costs no more calls', async () => {
    const { watcher, clock, world, ends } = aWatcher()
    await using _ = watcher
    watcher.watch([aTask('1')])
    await clock.advanceTo(100)
    watcher.watch([aTask('1', { claim: { taskId: '1', owner: 'replica', fence: '2' } })])
    await clock.advanceTo(20_000)
    expect(ends.get('1')?.end.status).toBe('deployed')
    expect(world.reads).toMatchObject({ get: 2, refresh: 1 })
  })

  test('a write that fails is tried again until it works', async () => {
    let failures = 3
    const finished: string[] = []
    const records = {
      saveProgress: async () => true,
      async finish({ taskId }: { taskId: string }) {
        failures -= 1
        if (failures >= 0) throw new Error('database away')
        finished.push(taskId)
        return true
      },
    }
    const { watcher, clock, troubles } = aWatcher({ records })
    await using _ = watcher
    watcher.watch([aTask('1')])
    await clock.advanceTo(10_000)
    expect(finished).toEqual(['1'])
    expect(troubles).toHaveLength(3)
  })

  test('the baseline is stored before a write-back is queued', async () => {
    const order: string[] = []
    const records: RolloutWatcherDeps['records'] = {
      async saveProgress(_, { baseline }) {
        if (baseline !== undefined) order.push('baseline')
        return true
      },
      finish: async () => true,
    }
    const { watcher, clock } = aWatcher({
      records,
      decideWriteBack: () => aWriteDecision(),
      async queueWriteBack(_, plan) {
        order.push(plan.app)
        return true
      },
    })
    await using _ = watcher
    watcher.watch([aTask('1')])
    await clock.advanceTo(1_000)
    expect(order).toEqual(['baseline', 'shop'])
  })
})

test('what throws in the judging of one task leaves the others alone', async () => {
  const decideWriteBack = ({ id }: { id: string }) => {
    if (id === 'bad') throw new Error('a fault')
    return { kind: 'monitor', why: 'not_managed', note: '' } as const
  }
  const { watcher, clock, ends, troubles } = aWatcher({ decideWriteBack })
  await using _ = watcher
  watcher.watch([aTask('bad'), aTask('good')])
  await clock.advanceTo(20_000)
  expect(ends.get('good')?.end.status).toBe('deployed')
  expect(ends.has('bad')).toBe(false)
  expect(troubles.length).toBeGreaterThan(0)
})

test('a task whose commit landed ends at the event that shows it rolled out', async () => {
  const commit = aSha('d')
  const { watcher, clock, world, ends } = aWatcher({
    decideWriteBack: () => aWriteDecision(),
  })
  await using _ = watcher
  world.application = anApplication({ version: 5, images: ['registry.example/shop:v1'] })
  watcher.watch([aTask('1')])
  await clock.advanceTo(500)
  watcher.outcome('1', { kind: 'landed', commit, repository, branch: 'main' })
  await clock.advanceTo(30_000)
  expect(ends.size).toBe(0)
  world.application = anApplication({ version: 50, revision: commit })
  watcher.updated('seen', world.application)
  await clock.advanceTo(30_001)
  expect(ends.get('1')).toMatchObject({ end: { status: 'deployed' }, atMs: 30_000 })
})

test('where nothing had to be committed, what is shown must last for two seconds', async () => {
  const commit = aSha('c')
  const { watcher, clock, world, ends } = aWatcher({
    decideWriteBack: () => aWriteDecision(),
  })
  await using _ = watcher
  watcher.watch([aTask('1')])
  await clock.advanceTo(500)
  watcher.outcome('1', { kind: 'unchanged', commit, repository, branch: 'main' })
  await clock.advanceTo(1_000)
  world.application = anApplication({ version: 20, images: ['registry.example/shop:v1'] }) // edited by hand
  watcher.updated('seen', world.application)
  await clock.advanceTo(10_000)
  expect(ends.size).toBe(0)
  world.application = anApplication({ version: 30 })
  watcher.updated('seen', world.application)
  await clock.advanceTo(12_001)
  expect(ends.get('1')).toMatchObject({ end: { status: 'deployed' }, atMs: 12_000 })
})

test('after a change of owner the stored baseline and outcome are judged by, and nothing is queued again', async () => {
  const queued: string[] = []
  const { watcher, clock, ends } = aWatcher({
    decideWriteBack: () => aWriteDecision(),
    async queueWriteBack(_, plan) {
      queued.push(plan.app)
      return true
    },
  })
  await using _ = watcher
  const baseline = {
    uid: 'uid-1',
    version: 1,
    revisions: [aSha('a')],
    reconciledAtMs: 0,
    images: [],
    operation: undefined,
    isBeforeCommit: true,
  }
  const writeBackOutcome = { kind: 'landed', commit: aSha('c'), repository, branch: 'main' } as const
  watcher.watch([aTask('1', { baseline, writeBackOutcome })])
  await clock.advanceTo(1_000)
  expect(ends.get('1')?.end.status).toBe('deployed')
  expect(queued).toEqual([])
})

test('a new owner does not ask for the refresh that an earlier one was answered, and looks as often as it must', async () => {
  const stored: Baseline[] = []
  const records = {
    ...rolloutDeps.records,
    async saveProgress(_: Claim, { baseline }: { readonly baseline?: Baseline }) {
      if (baseline !== undefined) stored.push(baseline)
      return true
    },
  }
  const before = anApplication({ version: 5, revision: aSha('a'), images: ['registry.example/shop:v1'] })
  const earlier = aWatcher({ records })
  earlier.world.application = before
  earlier.watcher.watch([aTask('1')])
  await earlier.clock.advanceTo(1_000)
  await earlier.watcher[Symbol.asyncDispose]()
  expect(stored.at(-1)).toMatchObject({ version: 5, comparedVersion: 7 })

  const later = aWatcher()
  await using _ = later.watcher
  const isOver = { startedAt: '2026-11-21T15:01:00Z', finishedAt: '2026-11-21T15:01:05Z' }
  later.world.application = anApplication({
    version: 20,
    reconciledAt: '2026-11-21T15:01:06Z',
    operationState: { ...succeeded, ...isOver },
  })
  later.watcher.watch([aTask('1', { baseline: stored.at(-1), claim: { taskId: '1', owner: 'other', fence: '2' } })])
  await later.clock.advanceTo(3_000)
  expect(later.ends.get('1')?.end.status).toBe('deployed')
  expect(later.world.reads).toEqual({ get: 2, list: 0, probe: 0, refresh: 0 })
})

test('what failed before a task came does not count against it, however late the stream told of it', async () => {
  const failed = (startedAt: string) => ({ phase: 'Failed', startedAt, finishedAt: startedAt, operation: {} })
  const stale = anApplication({ version: 5, operationState: { ...failed('2026-11-21T15:00:00Z'), phase: 'Running' } })
  const { watcher, clock, world, ends } = aWatcher()
  await using _ = watcher
  world.application = stale
  watcher.watch([aTask('earlier', { images: [{ image: 'registry.example/shop', tag: 'v1' }] })])
  await clock.advanceTo(5_000)
  world.application = anApplication({
    version: 50,
    sync: 'OutOfSync',
    operationState: failed('2026-11-21T15:00:00Z'),
  })
  watcher.watch([aTask('later')])
  await clock.advanceTo(60_000)
  expect(ends.get('earlier')?.end).toMatchObject({ status: 'failed', cause: 'sync_error' })
  expect(ends.has('later')).toBe(false)
})

describe('after replicas have died', () => {
  const commit = aSha('d')
  const writeBackOutcome = { kind: 'landed', commit, repository, branch: 'main' } as const
  const resumed = (id: string, more: Partial<WatchedTask> = {}) =>
    aTask(id, { claim: { taskId: id, owner: 'replica', fence: '2' }, ...more })

  test('their tasks are read in turn, and no more once a List has shown them (F45)', async () => {
    const { watcher, clock, world } = aLimitedWatcher()
    await using _ = watcher
    world.application = undefined
    watcher.watch(Array.from({ length: 30 }, (__, at) => resumed(String(at), { app: `shop-${at}`, writeBackOutcome })))
    await clock.advanceTo(950)
    expect(world.reads.get).toBe(10)
    const metadata = (at: number) => ({ name: `shop-${at}` })
    const shown = Array.from({ length: 30 }, (__, at) =>
      anApplication({ uid: `uid-${at}`, health: 'Progressing', revision: commit, metadata: metadata(at) }),
    )
    watcher.listed({ version: 100, applications: shown }, clock.nowMs())
    await clock.advanceTo(1_950)
    expect(world.reads).toMatchObject({ get: 10, refresh: 0 })
  })

  test('a verdict that shows while its task waits in line is confirmed ahead of the line', async () => {
    const { watcher, clock, world, ends } = aLimitedWatcher()
    await using _ = watcher
    world.application = anApplication({ revision: commit })
    watcher.watch(Array.from({ length: 30 }, (__, at) => resumed(String(at), { app: `app-${at}` })))
    watcher.watch([resumed('last', { writeBackOutcome })])
    await clock.advanceTo(150)
    expect(world.reads.get, 'of the line').toBe(2)
    watcher.updated('seen', world.application)
    await clock.advanceTo(201)
    expect(ends.get('last')).toMatchObject({ end: { status: 'deployed' }, atMs: 200 })
    expect(world.reads.get).toBe(3)
  })

  test('verdicts that show together are confirmed at the rate of the line', async () => {
    const { watcher, clock, world } = aLimitedWatcher()
    await using _ = watcher
    const names = Array.from({ length: 30 }, (__, at) => `app-${at}`)
    watcher.watch(names.map((app) => resumed(app, { app, writeBackOutcome })))
    for (const name of names)
      watcher.updated('seen', anApplication({ uid: name, revision: commit, metadata: { name } }))
    await clock.advanceTo(950)
    expect(world.reads.get).toBe(10)
    await clock.advanceTo(2_950)
    expect(world.reads.get).toBe(30)
  })

  test('a verdict of a task that was resumed long ago is confirmed at once', async () => {
    const { watcher, clock, world, ends } = aLimitedWatcher()
    await using _ = watcher
    world.application = anApplication({ revision: commit, health: 'Progressing' })
    watcher.watch([resumed('1', { writeBackOutcome, refresh: false })])
    await clock.advanceTo(40_000)
    watcher.watch(Array.from({ length: 30 }, (__, at) => resumed(`app-${at}`, { app: `app-${at}` })))
    await clock.advanceTo(40_050)
    world.application = anApplication({ version: 20, revision: commit })
    watcher.updated('seen', world.application)
    await clock.advanceTo(40_051)
    expect(ends.get('1')).toMatchObject({ end: { status: 'deployed' }, atMs: 40_050 })
  })

  test.for([
    { name: 'at once where it says that the commit is not there', takesMs: 300, ancestry: 'unrelated', atMs: 301 },
    { name: 'not at all where it says that it is', takesMs: 300, ancestry: 'descendant', atMs: undefined },
    { name: 'after ten seconds without an answer', takesMs: 60_000, ancestry: 'descendant', atMs: 10_001 },
  ] as const)('a refresh waits for the Git host, and is asked $name', async ({ takesMs, ancestry, atMs }) => {
    const { watcher, clock, world } = aWatcher({
      ancestry: () => new Promise((resolve) => void clock.setTimer(takesMs, () => resolve(ancestry))),
    })
    await using _ = watcher
    world.application = anApplication({ version: 5, health: 'Progressing', revision: aSha('e') })
    watcher.watch([resumed('1', { mayWrite: true, writeBackOutcome })])
    await clock.advanceTo((atMs ?? 20_000) - 2)
    expect(world.reads.refresh).toBe(0)
    await clock.advanceTo(atMs ?? 20_000)
    expect(world.reads.refresh).toBe(atMs === undefined ? 0 : 1)
  })
})

describe('direct reads of all applications', () => {
  const apps = Array.from({ length: 30 }, (_, at) => `app-${at}`)
  /** Rollouts in progress, of which only direct reads are made for now. */
  async function rollingOut() {
    const started = aLimitedWatcher()
    started.watcher.watch(apps.map((app) => aTask(app, { app, refresh: false })))
    const applications = apps.map((name) => anApplication({ uid: name, health: 'Progressing', metadata: { name } }))
    started.watcher.listed({ version: 100, applications }, 0)
    await started.clock.advanceTo(4_000)
    const before = started.world.reads.get
    return { ...started, reads: () => started.world.reads.get - before }
  }

  test('take turns, and a round that begins meanwhile leaves each its place', async () => {
    const { watcher, clock, reads } = await rollingOut()
    await using _ = watcher
    watcher.readWatched()
    await clock.advanceTo(5_950)
    expect(reads()).toBe(20)
    watcher.readWatched()
    await clock.advanceTo(6_950)
    expect(reads()).toBe(30)
    await clock.advanceTo(10_000)
    expect(reads(), 'those that were read before the second round are read again').toBe(50)
  })

  test('are not made of an application that nobody waits for any more', async () => {
    const { watcher, clock, reads } = await rollingOut()
    await using _ = watcher
    watcher.readWatched()
    watcher.drop(apps)
    await clock.advanceTo(10_000)
    expect(reads()).toBe(0)
  })
})

test('an application of the same name in another namespace is not looked at', async () => {
  const { watcher, clock, world, ends } = aWatcher()
  await using _ = watcher
  world.application = anApplication({ version: 5, images: ['registry.example/shop:v1'] })
  watcher.watch([aTask('1')])
  await clock.advanceTo(1_000)
  const elsewhere = parseApplication(aRawApplication({ version: 99, uid: 'other', metadata: { namespace: 'team-a' } }))
  if (elsewhere !== undefined) watcher.updated('seen', elsewhere)
  await clock.advanceTo(10_000)
  expect(elsewhere?.namespace).toBe('team-a')
  expect(ends.size).toBe(0)
})

test('an action that changes nothing is not repeated without end', async () => {
  let calls = 0
  const { watcher, clock } = aWatcher({
    decideWriteBack: () => {
      calls += 1
      throw new Error('a fault')
    },
  })
  await using _ = watcher
  watcher.watch([aTask('1')])
  await clock.advanceTo(60_000)
  expect(calls).toBeGreaterThan(1)
  expect(calls).toBeLessThanOrEqual(14)
})

test('a List is searched once, however many applications are watched', async () => {
  const { watcher } = aWatcher()
  await using _ = watcher
  let looks = 0
  const names = Array.from({ length: 100 }, (__, at) => `app-${at}`)
  const applications = names.map((name) => ({
    ...anApplication({ uid: name, metadata: { name } }),
    get name() {
      looks += 1
      return name
    },
  }))
  watcher.watch(names.map((app) => aTask(app, { app })))
  watcher.listed({ version: 100, applications }, 0)
  expect(looks).toBeLessThanOrEqual(10 * names.length)
})
