import { describe, expect, test } from 'vitest'
import { refreshAnnotation } from './application.ts'
import { overrideFile } from './example-repository.ts'
import { manifestKey } from './manifest.ts'
import { createVirtualWorld } from './virtual-world.ts'

const manual = { syncOptions: ['CreateNamespace=true'] }

describe('what a comparison does not start', () => {
  test('without a refresh a push stays unseen until the next poll', async () => {
    const world = createVirtualWorld({ times: { poll: 100_000, pollJitter: 0, lsRemoteCache: 50_000 } })
    const before = await world.createApplication('shop')
    world.deploy('shop', '1.0.1')
    await world.clock.advance(60_000)
    expect(world.application('shop').status).toEqual(before.status)
    await world.clock.advance(60_000)
    expect(world.application('shop').status.summary.images).toEqual(['registry.example/shop:1.0.1'])
  })

  test('a manual application stays OutOfSync until somebody syncs', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop', { syncPolicy: manual })
    const commit = world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(10_000)
    expect(world.application('shop').status.sync).toMatchObject({ status: 'OutOfSync', revision: commit })
    expect(world.application('shop').operation).toBeUndefined()
    world.controller.requestSync(world.keyOf('shop'), {
      username: 'somebody',
      revisions: [commit],
      prune: false,
      dryRun: false,
    })
    await world.clock.advance(20_000)
    expect(world.application('shop').status).toMatchObject({
      sync: { status: 'Synced' },
      summary: { images: ['registry.example/shop:1.0.1'] },
    })
  })

  test('a sync window leaves the application OutOfSync without a trace', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop')
    world.controller.setSyncWindows('default', [
      { kind: 'deny', schedule: '* * * * *', duration: '1h', manualSync: false, isActive: true },
    ])
    world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(10_000)
    const { status, operation } = world.application('shop')
    expect({ operation, conditions: status.conditions, sync: status.sync.status }).toEqual({
      operation: undefined,
      conditions: undefined,
      sync: 'OutOfSync',
    })
  })

  test('a commit that changes nothing moves the revision in one status write, without an operation', async () => {
    const world = createVirtualWorld()
    const before = await world.createApplication('shop')
    const commit = world.git.push('gitops', { 'shop/README.md': 'words' })
    world.refresh('shop')
    await world.clock.advance(5_000)
    const states = world.statesOf('shop')
    const after = states.slice(states.findIndex(({ metadata }) => metadata.annotations?.[refreshAnnotation]) + 1)
    expect(after).toHaveLength(1)
    expect(after[0]?.status).toMatchObject({
      sync: { status: 'Synced', revision: commit },
      operationState: before.status.operationState,
    })
  })

  test('manifest-generate-paths that leaves out the override file: Synced at the commit, old image; hard helps', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop', {
      annotations: { 'argocd.argoproj.io/manifest-generate-paths': 'templates' },
    })
    const commit = world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(5_000)
    expect(world.application('shop').status).toMatchObject({
      sync: { status: 'Synced', revision: commit },
      summary: { images: ['registry.example/shop:1.0.0'] },
    })
    world.refresh('shop', 'hard')
    await world.clock.advance(20_000)
    expect(world.application('shop').status.summary.images).toEqual(['registry.example/shop:1.0.1'])
  })
})

describe('a refresh asked while another is under way', () => {
  async function askTwice(version: '3.5' | '3.6') {
    const world = createVirtualWorld({ version, times: { refresh: [3_000, 3_000] } })
    await world.createApplication('shop')
    const first = world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(1_000)
    const second = world.deploy('shop', '1.0.2')
    world.refresh('shop')
    await world.clock.advance(3_000)
    return { world, first, second }
  }

  test('is dropped up to 3.5: the annotation goes with the older commit', async () => {
    const { world, first } = await askTwice('3.5')
    await world.clock.advance(15_000)
    expect(world.application('shop').metadata.annotations?.[refreshAnnotation]).toBeUndefined()
    expect(world.application('shop').status.sync.revision).toBe(first)
  })

  test('is remembered from 3.6 on', async () => {
    const { world, second } = await askTwice('3.6')
    await world.clock.advance(15_000)
    expect(world.application('shop').status.sync.revision).toBe(second)
  })
})

describe('the lifetime of an application', () => {
  test('deletion: first the timestamp, then the resources, then Missing, then DELETED with the last object', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop')
    const deleted = world.controller.deleteApplication(world.keyOf('shop'))
    await world.run(deleted)
    const last = world.controller.eventLog().at(-1)?.event
    expect(last?.type).toBe('DELETED')
    expect(last?.application.metadata.deletionTimestamp).toBeDefined()
    expect(last?.application.status).toMatchObject({
      sync: { status: 'OutOfSync' },
      health: { status: 'Missing' },
      summary: {},
    })
    expect(world.controller.store.get(world.keyOf('shop'))).toBeUndefined()
  })

  test('a re-created application has a new uid, starts without a status and becomes healthy', async () => {
    const world = createVirtualWorld()
    const first = await world.createApplication('shop')
    await world.run(world.controller.deleteApplication(world.keyOf('shop')))
    const second = await world.createApplication('shop', { start: 'empty' })
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    expect(JSON.parse(JSON.stringify(second.status))).toEqual({
      sync: { status: '', comparedTo: { source: { repoURL: '' }, destination: {} } },
      health: {},
      summary: {},
      sourceHydrator: {},
    })
    await world.clock.advance(20_000)
    expect(world.application('shop').status).toMatchObject({
      sync: { status: 'Synced' },
      health: { status: 'Healthy' },
      history: [{ id: 0 }],
    })
  })

  test('outside the control-plane namespace only <namespace>_<name> counts', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop', { namespace: 'team-a' })
    const key = { namespace: 'team-a', name: 'shop' }
    world.deploy('shop', '1.0.1')
    world.controller.annotateRefresh(key, 'normal')
    await world.clock.advance(10_000)
    expect(world.controller.store.get(key)?.status).toMatchObject({
      sync: { status: 'Synced' },
      summary: { images: ['registry.example/shop:1.0.0'] },
    })
    world.deploy('shop', '1.0.2', '.argocd-source-team-a_shop.yaml')
    world.controller.annotateRefresh(key, 'normal')
    await world.clock.advance(20_000)
    expect(world.controller.store.get(key)?.status.summary.images).toEqual(['registry.example/shop:1.0.2'])
  })

  test('several sources: revisions in their order, values from the ref, no effect of an override beside it', async () => {
    const world = createVirtualWorld()
    const values = world.git.push('values', { 'prod/values.yaml': 'image: {tag: "1.0.0"}' })
    await world.createApplication('shop', {
      sources: [
        { repoURL: 'gitops', path: 'shop', targetRevision: 'main', helm: { valueFiles: ['$values/prod/values.yaml'] } },
        { repoURL: 'values', targetRevision: 'main', ref: 'values' },
      ],
    })
    expect(world.application('shop').status.sync).toMatchObject({ revisions: [world.git.head('gitops'), values] })
    expect(world.application('shop').status.sync).not.toHaveProperty('revision', expect.anything())
    world.git.push('values', { 'prod/.argocd-source-shop.yaml': overrideFile('1.0.1') })
    world.refresh('shop')
    await world.clock.advance(10_000)
    expect(world.application('shop').status.summary.images).toEqual(['registry.example/shop:1.0.0'])
    world.git.push('values', { 'prod/values.yaml': 'image: {tag: "1.0.2"}' })
    world.refresh('shop')
    await world.clock.advance(20_000)
    expect(world.application('shop').status.summary.images).toEqual(['registry.example/shop:1.0.2'])
  })
})

describe('Git as the controller sees it', () => {
  test('level 2 believes the cache of ls-remote, a refresh does not and renews it for its siblings', async () => {
    const world = createVirtualWorld({ times: { lsRemoteCache: 1_000_000, poll: 10_000_000 } })
    const before = await world.createApplication('shop')
    await world.createApplication('cart')
    world.refresh('shop')
    world.refresh('cart')
    await world.clock.advance(5_000)
    const commit = world.deploy('shop', '1.0.1')
    world.controller.refreshNow(world.keyOf('cart'), 2)
    await world.clock.advance(5_000)
    expect(world.application('cart').status.sync.revision).not.toBe(commit)
    world.refresh('shop')
    await world.clock.advance(5_000)
    world.controller.refreshNow(world.keyOf('cart'), 2)
    await world.clock.advance(5_000)
    expect(world.application('cart').status.sync.revision).toBe(commit)
    expect(before.status.sync.revision).not.toBe(commit)
  })

  test('an error of the Git host is shown at once when asked for, and swallowed for its grace otherwise', async () => {
    const world = createVirtualWorld({ times: { poll: 10_000_000 } })
    await world.createApplication('shop')
    world.controller.faults.repositoryErrors.set('gitops', 'failed to list refs: connection refused')
    world.controller.refreshNow(world.keyOf('shop'), 2)
    await world.clock.advance(5_000)
    expect(world.application('shop').status.conditions).toBeUndefined()
    world.refresh('shop')
    await world.clock.advance(5_000)
    expect(world.application('shop').status.conditions).toMatchObject([{ type: 'ComparisonError' }])
  })
})

describe('kinds of workloads', () => {
  async function rollOut(workload: Record<string, unknown>, times = {}) {
    const world = createVirtualWorld({ times })
    const image = `registry.example/shop:\${image.tag}`
    await world.createApplication('shop', { workloads: [{ image, replicas: 2, ...workload }] })
    const commit = world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(25_000)
    const healths = [...new Set(world.statesOf('shop').map(({ status }) => status.health.status))]
    return { world, commit, healths, status: world.application('shop').status }
  }

  test.for(['Deployment', 'StatefulSet', 'DaemonSet', 'Widget', 'Rollout'])(
    '%s: Progressing, then Healthy with the new image only',
    async (kind) => {
      const { status, healths } = await rollOut({ kind })
      expect(healths).toContain('Progressing')
      expect(status).toMatchObject({
        sync: { status: 'Synced' },
        health: { status: 'Healthy' },
        summary: { images: ['registry.example/shop:1.0.1'] },
      })
    },
  )

  test('a custom resource still looks healthy for a while after the change', async () => {
    const { world, commit } = await rollOut({ kind: 'Widget' })
    const stale = world
      .statesOf('shop')
      .find(
        ({ status }) =>
          status.sync.status === 'Synced' && status.sync.revision === commit && status.health.status === 'Healthy',
      )
    expect(stale?.status.summary.images).toEqual(['registry.example/shop:1.0.0'])
  })

  test('replicas 0: Synced and Healthy without images; the result of the operation has the image', async () => {
    const { status } = await rollOut({ replicas: 0 })
    expect(status.summary.images).toBeUndefined()
    expect(status).toMatchObject({ sync: { status: 'Synced' }, health: { status: 'Healthy' } })
    expect(status.operationState?.syncResult?.resources).toMatchObject([
      { kind: 'Deployment', images: ['registry.example/shop:1.0.1'] },
    ])
  })

  test('CronJob: no image before a run, and the image of a finished run stays', async () => {
    const { world, status } = await rollOut({ kind: 'CronJob', schedule: '0 0 1 1 *' })
    expect(status).toMatchObject({ sync: { status: 'Synced' }, health: { status: 'Healthy' } })
    expect(status.summary.images).toBeUndefined()
    world.controller.managedAt(world.keyOf('shop'))?.cluster.runCronJob('batch/CronJob/shop/shop')
    await world.clock.advance(10_000)
    world.deploy('shop', '1.0.2')
    world.refresh('shop')
    await world.clock.advance(10_000)
    expect(world.application('shop').status.summary.images).toEqual(['registry.example/shop:1.0.1'])
  })

  test('a paused Rollout is Suspended with both images until it is promoted', async () => {
    const { world, status } = await rollOut({ kind: 'Rollout', pause: true })
    expect(status).toMatchObject({
      health: { status: 'Suspended' },
      summary: { images: ['registry.example/shop:1.0.0', 'registry.example/shop:1.0.1'] },
    })
    world.controller.managedAt(world.keyOf('shop'))?.cluster.decideRollout('shop', 'promoted')
    await world.clock.advance(20_000)
    expect(world.application('shop').status).toMatchObject({
      health: { status: 'Healthy' },
      summary: { images: ['registry.example/shop:1.0.1'] },
    })
  })

  test('an OnDelete StatefulSet is Synced and Healthy although the old image runs', async () => {
    const { status } = await rollOut({ kind: 'StatefulSet', updateStrategy: 'OnDelete' })
    expect(status).toMatchObject({
      sync: { status: 'Synced' },
      health: { status: 'Healthy' },
      summary: { images: ['registry.example/shop:1.0.0'] },
    })
  })

  test.for([
    { hook: 'PreSync', running: ['registry.example/shop:1.0.0'], sync: 'OutOfSync' },
    { hook: 'PostSync', running: ['registry.example/shop:1.0.1'], sync: 'Synced' },
  ])('a $hook hook that fails: $sync, and the operation says why', async ({ hook, running, sync }) => {
    const world = createVirtualWorld()
    const workloads = [
      { kind: 'Deployment', image: `registry.example/shop:\${image.tag}`, replicas: 1 },
      { kind: 'Job', name: 'shop-hook', hook, image: 'registry.example/smoke:1.0.1-fail' },
    ]
    await world.createApplication('shop', {
      workloads,
      syncPolicy: { automated: { selfHeal: true }, retry: { limit: 0 } },
    })
    world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(40_000)
    const { status } = world.application('shop')
    expect(status.operationState).toMatchObject({
      phase: 'Failed',
      message: 'one or more synchronization tasks completed unsuccessfully',
    })
    const hookResult = status.operationState?.syncResult?.resources?.find(({ kind }) => kind === 'Job')
    expect(hookResult).toMatchObject({
      hookType: hook,
      hookPhase: 'Failed',
      status: 'Synced',
      message: 'Job has reached the specified backoff limit',
    })
    expect(status.sync.status).toBe(sync)
    expect(status.conditions?.map(({ type }) => type)).toEqual(sync === 'Synced' ? undefined : ['SyncError'])
    expect((await world.truth('shop'))?.runningImages).toEqual(running)
  })

  test('waves wait for health, and say so', async () => {
    const world = createVirtualWorld()
    const image = `registry.example/shop:\${image.tag}`
    const workloads = [
      { kind: 'Deployment', name: 'first', image, replicas: 1, wave: 0 },
      { kind: 'Deployment', name: 'second', image, replicas: 1, wave: 1 },
    ]
    await world.createApplication('shop', { workloads })
    world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(60_000)
    const messages = world.statesOf('shop').map(({ status }) => status.operationState?.message)
    expect(messages).toContain('waiting for healthy state of apps/Deployment/first')
    expect(messages).toContain('waiting for healthy state of apps/Deployment/second')
    expect(world.application('shop').status).toMatchObject({
      operationState: { phase: 'Succeeded', message: 'successfully synced (no more tasks)' },
      health: { status: 'Healthy' },
    })
    expect(
      world.controller
        .managedAt(world.keyOf('shop'))
        ?.cluster.list()
        .map(({ manifest }) => manifestKey(manifest)),
    ).toHaveLength(2)
  })
})
