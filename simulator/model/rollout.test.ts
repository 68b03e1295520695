import { describe, expect, test } from 'vitest'
import { type Application, refreshAnnotation } from './application.ts'
import { createVirtualWorld, type VirtualWorld, type VirtualWorldOptions } from './virtual-world.ts'

const oldImage = 'registry.example/shop:1.0.0'
const newImage = 'registry.example/shop:1.0.1'

/** One word for each write of a rollout. */
function writeName(before: Application, after: Application): string {
  const isChanged = (read: (application: Application) => unknown) =>
    JSON.stringify(read(before)) !== JSON.stringify(read(after))
  if (isChanged(({ operation }) => operation))
    return after.operation
      ? after.operation.sync.autoHealAttemptsCount
        ? 'healing requested'
        : 'requested'
      : `over: ${after.status.operationState?.phase}`
  if (isChanged(({ status }) => status.operationState?.phase)) return `operation ${after.status.operationState?.phase}`
  if (isChanged(({ status }) => status.history?.length)) return 'history'
  if (isChanged(({ status }) => status.operationState)) return 'operation state'
  if (isChanged(({ status }) => [status.sync, status.health.status]))
    return `${after.status.sync.status}/${after.status.health.status}`
  if (isChanged(({ status }) => status.summary)) return 'images'
  if (isChanged(({ metadata }) => metadata.annotations?.[refreshAnnotation]))
    return after.metadata.annotations?.[refreshAnnotation] ? 'annotated' : 'annotation removed'
  return 'reconciled'
}

function writesOf(world: VirtualWorld, name: string, fromState: Application): string[] {
  const states = world.statesOf(name)
  const start = states.findIndex(({ metadata }) => metadata.resourceVersion === fromState.metadata.resourceVersion)
  return states.slice(start + 1).map((after, index) => writeName(states[start + index] ?? after, after))
}

async function rollOut(options: VirtualWorldOptions = {}, tag = '1.0.1') {
  const world = createVirtualWorld(options)
  const before = await world.createApplication('shop')
  const commit = world.deploy('shop', tag)
  world.refresh('shop')
  await world.clock.advance(20_000)
  return { world, before, commit, writes: writesOf(world, 'shop', before) }
}

describe('an automated rollout', () => {
  test.for(Array.from({ length: 25 }, (_, seed) => seed))(
    'writes in the order of the recordings (seed %i)',
    async (seed) => {
      const { writes, world, commit } = await rollOut({ seed, staleLiveCache: 0 })
      expect(writes.slice(0, 2)).toEqual(['annotated', 'requested'])
      expect(writes.slice(2, 4).toSorted()).toEqual(['OutOfSync/Healthy', 'operation Running'])
      expect(writes.slice(4, 6)).toEqual(['history', 'over: Succeeded'])
      const rest = writes.slice(6).filter((write) => write !== 'reconciled' && write !== 'images')
      expect(rest).toEqual(['Synced/Progressing', 'Synced/Healthy'])
      expect(world.application('shop').status).toMatchObject({
        sync: { status: 'Synced', revision: commit },
        health: { status: 'Healthy' },
        summary: { images: [newImage] },
      })
    },
  )

  test('held Pods keep a rollout in progress until they are released', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop')
    world.controller.overridePods(world.keyOf('shop'), { newPods: 'held' })
    world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(60_000)
    expect(world.application('shop').status.health.status).toBe('Progressing')
    world.controller.releasePods(world.keyOf('shop'))
    await world.clock.advance(20_000)
    expect(world.application('shop').status).toMatchObject({
      health: { status: 'Healthy' },
      summary: { images: [newImage] },
    })
  })

  test('a refresh that a lagging Git host answered sees the commit before, the next one the new one', async () => {
    const world = createVirtualWorld()
    const { status } = await world.createApplication('shop')
    const commit = world.deploy('shop', '1.0.1')
    world.controller.faults.olderRevision.set('argocd/shop', 1)
    world.refresh('shop')
    await world.clock.advance(5_000)
    expect(world.application('shop').status.sync.revision).toBe(status.sync.revision)
    world.refresh('shop')
    await world.clock.advance(5_000)
    expect(world.application('shop').status.sync.revision).toBe(commit)
  })

  test('the worker and the comparison write in either order', async () => {
    const orders = new Set<string>()
    for (let seed = 0; seed < 25; seed++) orders.add((await rollOut({ seed })).writes[2] ?? '')
    expect([...orders].toSorted()).toEqual(['OutOfSync/Healthy', 'operation Running'])
  })

  test('the requested operation appears while the status still says Synced and Healthy at the old commit', async () => {
    const { world, before } = await rollOut()
    const requested = world.statesOf('shop').find(({ operation }) => operation !== undefined)
    expect(requested?.status.operationState).toBeUndefined()
    expect(requested?.status.sync).toEqual(before.status.sync)
    expect(requested?.status.health.status).toBe('Healthy')
  })

  test('both images are listed while old Pods are there, also after Healthy', async () => {
    const { world } = await rollOut()
    const healthy = world
      .statesOf('shop')
      .find(({ status }) => status.health.status === 'Healthy' && status.summary.images?.includes(newImage))
    expect(healthy?.status.summary.images).toEqual([oldImage, newImage])
    expect(world.application('shop').status.summary.images).toEqual([newImage])
  })

  test('the comparison after the operation is not older than its end', async () => {
    const { world } = await rollOut({ seed: 4 })
    const { reconciledAt, operationState } = world.application('shop').status
    expect(String(reconciledAt) >= String(operationState?.finishedAt)).toBe(true)
  })

  test('a stale live cache leads to a second operation at the same commit, which removes the state of the first', async () => {
    const { world, writes, commit } = await rollOut({ staleLiveCache: 1 })
    expect(writes).toContain('healing requested')
    const healing = world.statesOf('shop').find(({ operation }) => operation?.sync.autoHealAttemptsCount === 1)
    expect(healing?.operation?.sync).toMatchObject({
      revision: commit,
      resources: [{ group: 'apps', kind: 'Deployment', name: 'shop' }],
    })
    expect(healing?.status.operationState).toBeUndefined()
    expect(world.application('shop').status).toMatchObject({
      sync: { status: 'Synced' },
      health: { status: 'Healthy' },
    })
  })

  test('resource versions only rise, and every status write is a new generation', async () => {
    const { world } = await rollOut()
    const states = world.statesOf('shop')
    for (const [index, state] of states.entries()) {
      const last = states[index - 1]
      if (!last) continue
      expect(Number(state.metadata.resourceVersion)).toBeGreaterThan(Number(last.metadata.resourceVersion))
    }
    expect(states.at(-1)?.metadata.generation).toBeGreaterThan(6)
  })

  test('the same seed gives the same writes', async () => {
    const [one, other] = [await rollOut({ seed: 7 }), await rollOut({ seed: 7 })]
    expect(JSON.stringify(one.world.controller.eventLog())).toBe(JSON.stringify(other.world.controller.eventLog()))
  })

  test('the truth names what really runs', async () => {
    const { world, commit } = await rollOut()
    expect(await world.truth('shop')).toMatchObject({
      desiredRevisions: [commit],
      desiredImages: [newImage],
      runningImages: [newImage],
      appliedRevisions: [commit],
      isSynced: true,
      isRolledOut: true,
      isHealthy: true,
    })
  })
})

describe('a rollout that does not work', () => {
  test('an image that cannot be pulled: Progressing, and Degraded after the deadline', async () => {
    const { world } = await rollOut({ times: { progressDeadline: 10_000 } }, '1.0.1-bad')
    const { status } = world.application('shop')
    expect(status.sync.status).toBe('Synced')
    expect(status.health.status).toBe('Degraded')
    expect(status.summary.images).toEqual([oldImage, 'registry.example/shop:1.0.1-bad'])
    expect((await world.truth('shop'))?.runningImages).toEqual([oldImage])
  })

  test('Pods that are ready for a moment before each crash stay Progressing for ever', async () => {
    const { world } = await rollOut({ times: { progressDeadline: 10_000 } }, '1.0.1-flap')
    await world.clock.advance(120_000)
    const healths = new Set(world.statesOf('shop').map(({ status }) => status.health.status))
    expect(world.application('shop').status.health.status).toBe('Progressing')
    expect(healths.has('Degraded')).toBe(false)
  })

  test('a fixing commit leads out of Degraded', async () => {
    const { world } = await rollOut({ times: { progressDeadline: 10_000 } }, '1.0.1-bad')
    world.deploy('shop', '1.0.2')
    world.refresh('shop')
    await world.clock.advance(20_000)
    expect(world.application('shop').status).toMatchObject({
      health: { status: 'Healthy' },
      summary: { images: ['registry.example/shop:1.0.2'] },
    })
  })

  test('an immutable field: retries in phase Running, then Failed and the condition SyncError', async () => {
    const world = createVirtualWorld()
    const retry = { limit: 1, backoff: { duration: '2s' } }
    const before = await world.createApplication('shop', {
      syncPolicy: { automated: { prune: true, selfHeal: true }, retry },
    })
    const workload = { kind: 'Deployment', replicas: 2, selector: 'other', image: newImage }
    const commit = world.git.push('gitops', { 'shop/workloads.yaml': `workloads: ${JSON.stringify([workload])}` })
    world.refresh('shop')
    await world.clock.advance(20_000)
    const waiting = world.statesOf('shop').find(({ status }) => status.operationState?.retryCount === 1)
    expect(waiting?.status.operationState).toMatchObject({ phase: 'Running', finishedAt: expect.any(String) })
    expect(waiting?.status.operationState?.message).toMatch(
      /field is immutable\. Retrying attempt #1 at \d+:\d\d[AP]M\.$/,
    )
    const { status, operation } = world.application('shop')
    expect(operation).toBeUndefined()
    expect(status.operationState).toMatchObject({
      phase: 'Failed',
      retryCount: 1,
      message: expect.stringMatching(/\(retried 1 times\)\.$/),
    })
    expect(status.conditions).toMatchObject([{ type: 'SyncError', message: expect.stringContaining(`[${commit}]`) }])
    expect(status).toMatchObject({
      sync: { status: 'OutOfSync' },
      health: { status: 'Healthy' },
      summary: { images: [oldImage] },
    })
    expect(before.status.history).toHaveLength(1)
    expect(status.history).toHaveLength(1)
  })

  test('a kind that the cluster does not serve: nothing of the commit is applied', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop', { syncPolicy: { automated: {}, retry: { limit: 0 } } })
    const workloads = [
      { kind: 'Deployment', replicas: 2, image: newImage },
      { kind: 'Foo', group: 'example.org' },
    ]
    world.git.push('gitops', { 'shop/workloads.yaml': `workloads: ${JSON.stringify(workloads)}` })
    world.refresh('shop')
    await world.clock.advance(10_000)
    const { status } = world.application('shop')
    expect(status.operationState?.message).toContain(
      'one or more synchronization tasks are not valid: failed to discover server resources',
    )
    expect(status).toMatchObject({ health: { status: 'Healthy' }, summary: { images: [oldImage] } })
  })

  test('a broken override file is a ComparisonError with the branch in place of the commit', async () => {
    const world = createVirtualWorld()
    await world.createApplication('shop')
    world.git.push('gitops', {
      'shop/.argocd-source-shop.yaml': 'helm: {parameters: [{name: image.tag, value: 123456}]}',
    })
    world.refresh('shop')
    await world.clock.advance(3_000)
    const { status } = world.application('shop')
    expect(status.sync).toMatchObject({ status: 'Unknown', revision: 'main' })
    expect(status.health.status).toBe('Healthy')
    expect(status.conditions?.[0]?.message).toContain(
      'json: cannot unmarshal number into Go struct field HelmParameter.helm.parameters.value of type string',
    )
    world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(20_000)
    expect(world.application('shop').status.conditions).toBeUndefined()
    expect(world.application('shop').status.summary.images).toEqual([newImage])
  })
})
