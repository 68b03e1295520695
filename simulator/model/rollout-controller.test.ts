import { describe, expect, test } from 'vitest'
import { renderResourceTree } from './render-resource-tree.ts'
import type { AbortForm } from './rollout-state.ts'
import { createVirtualWorld, type VirtualWorld } from './virtual-world.ts'

const oldImage = 'registry.example/shop:1.0.0'
const newImage = 'registry.example/shop:1.0.1'

async function started(workload: Record<string, unknown> = {}, tag = '1.0.1') {
  const world = createVirtualWorld({ staleLiveCache: 0 })
  const image = `registry.example/shop:\${image.tag}`
  await world.createApplication('shop', { workloads: [{ kind: 'Rollout', image, replicas: 2, ...workload }] })
  world.deploy('shop', tag)
  world.refresh('shop')
  await world.clock.advance(20_000)
  const decide: NonNullable<ReturnType<typeof clusterOf>>['decideRollout'] = (name, decision) =>
    clusterOf(world)?.decideRollout(name, decision)
  return { world, decide }
}

const clusterOf = (world: VirtualWorld) => world.controller.managedAt(world.keyOf('shop'))?.cluster
const nodesOf = (world: VirtualWorld, kind: string) =>
  (renderResourceTree(clusterOf(world)?.list() ?? []).nodes ?? []).filter((node) => node.kind === kind)
const healthOf = (world: VirtualWorld) => nodesOf(world, 'Rollout')[0]?.health
const shown = (world: VirtualWorld) => {
  const { sync, health, summary } = world.application('shop').status
  return { sync: sync.status, health: health.status, images: summary.images }
}

const paused = { steps: [{ setWeight: 50 }, { pause: {} }, { setWeight: 100 }, { pause: { duration: 30 } }] }

describe('a canary', () => {
  test('waits at a pause for a person, and goes on by itself after one with a duration', async () => {
    const { world, decide } = await started(paused)
    expect(healthOf(world)).toEqual({ status: 'Suspended', message: 'CanaryPauseStep' })
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Suspended', images: [oldImage, newImage] })
    decide('shop', 'promoted')
    await world.clock.advance(10_000)
    expect(healthOf(world)).toEqual({ status: 'Suspended', message: 'CanaryPauseStep' })
    await world.clock.advance(60_000)
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Healthy', images: [newImage] })
  })

  test('shows the revision at the Rollout and its ReplicaSets', async () => {
    const { world } = await started(paused)
    const revisions = (kind: string) =>
      nodesOf(world, kind).flatMap(({ info }) => info?.map(({ value }) => value) ?? [])
    expect(revisions('Rollout')).toEqual(['Rev:2'])
    expect(revisions('ReplicaSet').toSorted()).toEqual(['Rev:1', 'Rev:2'])
    world.deploy('shop', '1.0.0')
    world.refresh('shop')
    await world.clock.advance(20_000)
    expect(revisions('Rollout')).toEqual(['Rev:3'])
    expect(revisions('ReplicaSet').toSorted()).toEqual(['Rev:2', 'Rev:3'])
  })

  const failed = 'etric "success-rate" assessed Failed due to failed (2) > failureLimit (1)'
  const at2 = 'RolloutAborted: Rollout aborted update to revision 2'
  test.for<{ form: AbortForm; message: string }>([
    { form: 'person', message: at2 },
    { form: 'metric', message: `${at2}: M${failed}` },
    { form: 'step-analysis', message: `${at2}: Step-based analysis phase error/failed: M${failed}` },
    { form: 'background-analysis', message: `${at2}: Background analysis phase error/failed: M${failed}` },
    { form: 'without-revision', message: `RolloutAborted: m${failed}` },
  ])('aborted ($form): Synced and Degraded with the old image only', async ({ form, message }) => {
    const { world, decide } = await started(paused)
    decide('shop', { aborted: form })
    await world.clock.advance(20_000)
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Degraded', images: [oldImage] })
    expect(healthOf(world)).toEqual({ status: 'Degraded', message })
    expect(nodesOf(world, 'AnalysisRun').map(({ health }) => health)).toEqual(
      form === 'person' ? [] : [{ status: 'Degraded', message: `M${failed}` }],
    )
  })

  test('retried starts at its first step with the same revision', async () => {
    const { world, decide } = await started(paused)
    decide('shop', 'aborted')
    await world.clock.advance(20_000)
    decide('shop', 'retried')
    await world.clock.advance(20_000)
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Suspended', images: [oldImage, newImage] })
    decide('shop', 'fully-promoted')
    await world.clock.advance(20_000)
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Healthy', images: [newImage] })
  })

  test('back to the stable image leads out of an abort without any step', async () => {
    const { world, decide } = await started(paused)
    decide('shop', 'aborted')
    world.deploy('shop', '1.0.0')
    world.refresh('shop')
    await world.clock.advance(20_000)
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Healthy', images: [oldImage] })
  })

  test.for([
    { steps: [{ setWeight: 50 }, { analysis: 'success-rate' }], phase: 'Step-based', suffix: '-2-1' },
    { steps: [], phase: 'Background', suffix: '-2' },
  ])('$phase analysis of a tag that ends with analysis-fails aborts by itself', async ({ steps, phase, suffix }) => {
    const { world } = await started({ steps }, '1.0.1-analysis-fails')
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Degraded', images: [oldImage] })
    expect(healthOf(world)?.message).toBe(`${at2}: ${phase} analysis phase error/failed: M${failed}`)
    const [run] = nodesOf(world, 'AnalysisRun')
    expect(run).toMatchObject({ group: 'argoproj.io', parentRefs: [{ kind: 'Rollout', name: 'shop' }] })
    expect(run?.name.endsWith(suffix)).toBe(true)
  })

  test('there is nothing to abort once it is promoted', async () => {
    const { world, decide } = await started()
    decide('shop', 'aborted')
    await world.clock.advance(20_000)
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Healthy', images: [newImage] })
  })

  test('an analysis that succeeds lets it go on', async () => {
    const { world } = await started({ steps: [{ setWeight: 50 }, { analysis: 'success-rate' }] })
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Healthy', images: [newImage] })
    expect(nodesOf(world, 'AnalysisRun')[0]?.health?.status).toBe('Healthy')
  })

  test('a spec that Argo Rollouts does not accept is Degraded, and nothing changes', async () => {
    const { world } = await started({ steps: [{ setWeight: 120 }] })
    expect(shown(world)).toEqual({ sync: 'Synced', health: 'Degraded', images: [oldImage] })
    expect(healthOf(world)?.message).toMatch(/^InvalidSpec: The Rollout "shop" is invalid: spec\.strategy\.canary/)
  })
})

test('a blue-green update waits with both versions complete until it is promoted', async () => {
  const { world, decide } = await started({ strategy: 'BlueGreen' })
  expect(healthOf(world)).toEqual({ status: 'Suspended', message: 'BlueGreenPause' })
  expect(nodesOf(world, 'Pod')).toHaveLength(4)
  decide('shop', 'promoted')
  await world.clock.advance(20_000)
  expect(shown(world)).toEqual({ sync: 'Synced', health: 'Healthy', images: [newImage] })
})
