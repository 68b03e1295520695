import { describe, expect, test } from 'vitest'
import { livePod, podSecret } from './live-pod.ts'
import { podBehaviours } from './pod-behaviours.ts'
import { podReason } from './pod-health.ts'
import { renderResourceTree } from './render-resource-tree.ts'
import { createVirtualWorld, type VirtualWorld } from './virtual-world.ts'

const image = `registry.example/shop:\${image.tag}`

async function rolledOut(behaviour: string, forMs: number, workload: Record<string, unknown> = {}) {
  const world = createVirtualWorld({ staleLiveCache: 0 })
  await world.createApplication('shop', { workloads: [{ kind: 'Deployment', image, replicas: 1, ...workload }] })
  world.deploy('shop', `1.0.1-${behaviour}`)
  world.refresh('shop')
  const seen: string[] = []
  for (let ms = 0; ms < forMs; ms += 100) {
    await world.clock.advance(100)
    const pod = newPodsIn(world)[0]
    const state = pod && `${podReason(pod)} ${pod.restarts}`
    if (state !== undefined && state !== seen.at(-1)) seen.push(state)
  }
  return { world, seen }
}

const workloadsIn = (world: VirtualWorld) => world.controller.managedAt(world.keyOf('shop'))?.cluster.list() ?? []
const newPodsIn = (world: VirtualWorld) =>
  workloadsIn(world).flatMap(({ pods }) => pods.filter(({ containers }) => containers[0]?.image.includes('1.0.1')))
const imagesOf = (world: VirtualWorld) => world.application('shop').status.summary.images

describe('what a Pod shows from read to read', () => {
  test.for([
    {
      behaviour: 'crashes-again',
      first: ['ContainerCreating 0', 'Running 0', 'Error 0', 'CrashLoopBackOff 1', 'Running 1', 'Error 1'],
    },
    { behaviour: 'oom-killed', first: ['ContainerCreating 0', 'Running 0', 'OOMKilled 0', 'CrashLoopBackOff 1'] },
    { behaviour: 'liveness-killed', first: ['ContainerCreating 0', 'Running 0', 'Running 1', 'Running 2', 'Error 2'] },
    { behaviour: 'init-crashes', first: ['Init:0/1 0', 'Init:Error 0', 'Init:CrashLoopBackOff 1', 'Init:0/1 1'] },
    { behaviour: 'initializes-slowly', first: ['Init:0/1 0', 'PodInitializing 0', 'Running 0'] },
    { behaviour: 'run-container-error', first: ['ContainerCreating 0', 'RunContainerError 0', 'CrashLoopBackOff 1'] },
    { behaviour: 'unschedulable', first: ['Pending 0'] },
    { behaviour: 'volume-attach-error', first: ['ContainerCreating 0'] },
  ])('$behaviour', async ({ behaviour, first }) => {
    const { seen } = await rolledOut(behaviour, 120_000)
    expect(seen.slice(0, first.length)).toEqual(first)
  })

  test.for(['crashes-thrice', 'starts-slowly', 'initializes-slowly'])('%s: well in the end', async (behaviour) => {
    const { world } = await rolledOut(behaviour, 130_000)
    expect(world.application('shop').status.health.status).toBe('Healthy')
    expect(imagesOf(world)).toEqual([`registry.example/shop:1.0.1-${behaviour}`])
  })

  test.for(['held', 'unschedulable', 'claim-pending', 'volume-missing', 'volume-attach-error', 'init-waits'])(
    '%s: well once it is released',
    async (behaviour) => {
      const { world } = await rolledOut(behaviour, 30_000)
      expect(world.application('shop').status.health.status).toBe('Progressing')
      world.controller.releasePods(world.keyOf('shop'))
      await world.clock.advance(20_000)
      expect(world.application('shop').status.health.status).toBe('Healthy')
    },
  )

  test('of two containers the one that crashes is named, and the other is ready', async () => {
    const { world } = await rolledOut('fine', 0, {
      containers: [{ name: 'proxy', image: `registry.example/proxy:\${image.tag}` }],
    })
    await world.clock.advance(20_000)
    world.controller.overridePods(world.keyOf('shop'), {
      newPods: 'crashes-again',
      except: ['registry.example/shop:1.0.1-worse'],
    })
    world.deploy('shop', '1.0.1-worse')
    world.refresh('shop')
    await world.clock.advance(40_000)
    const node = renderResourceTree(workloadsIn(world)).nodes?.find(({ images }) =>
      images?.includes('registry.example/proxy:1.0.1-worse'),
    )
    expect(node?.health?.message).toMatch(/^back-off 10s restarting failed container=proxy pod=shop-/)
    expect(node?.info).toContainEqual({ name: 'Containers', value: '1/2' })
  })
})

test.for([
  { behaviour: 'pulled-late', phase: 'Succeeded', state: 'Completed', health: { status: 'Healthy' } },
  {
    behaviour: 'oom-killed',
    phase: 'Failed',
    state: 'OOMKilled',
    health: { status: 'Degraded', message: 'OOMKilled' },
  },
])('the Pod of a hook that is $behaviour ends as $state', async ({ behaviour, phase, state, health }) => {
  const world = createVirtualWorld({ staleLiveCache: 0, times: { latePull: 10_000 } })
  const hook = { kind: 'Job', name: 'migrate', hook: 'PreSync', image: `registry.example/migrate:1-${behaviour}` }
  await world.createApplication('shop', {
    workloads: [hook, { kind: 'Deployment', image }],
    syncPolicy: { automated: {}, retry: { limit: 0 } },
  })
  world.deploy('shop', '1.0.1')
  world.refresh('shop')
  await world.clock.advance(60_000)
  expect(world.application('shop').status.operationState?.phase).toBe(phase)
  const node = renderResourceTree(workloadsIn(world)).nodes?.find(({ name }) => name.startsWith('migrate-'))
  expect(node).toMatchObject({ kind: 'Pod', health })
  expect(node?.info).toContainEqual({ name: 'Status Reason', value: state })
})

test.for(['quota-exceeded', 'pod-security-violation', 'webhook-denial'] as const)(
  '%s: no Pod until the override ends',
  async (newPods) => {
    const world = createVirtualWorld({ staleLiveCache: 0, times: { progressDeadline: 30_000 } })
    await world.createApplication('shop', { workloads: [{ kind: 'Deployment', image, replicas: 1 }] })
    world.controller.overridePods(world.keyOf('shop'), { newPods })
    world.deploy('shop', '1.0.1')
    world.refresh('shop')
    await world.clock.advance(20_000)
    expect(newPodsIn(world)).toEqual([])
    expect(world.application('shop').status.health.status).toBe('Progressing')
    await world.clock.advance(20_000)
    expect(world.application('shop').status.health.status).toBe('Degraded')
    world.controller.overridePods(world.keyOf('shop'), undefined)
    await world.clock.advance(300_000)
    expect(world.application('shop').status.health.status).toBe('Healthy')
  },
)

test.for(podBehaviours.filter((behaviour) => behaviour !== 'runs'))(
  'a tag that ends with %s plays it',
  async (behaviour) => {
    const { world } = await rolledOut(behaviour, 5_000)
    const pods = workloadsIn(world).flatMap((workload) => workload.pods.map((pod) => ({ workload, pod })))
    const found = pods.find(({ pod }) => pod.behaviour === behaviour)
    if (!found) return expect(workloadsIn(world)[0]?.sets.at(-1)?.refusal).toBeDefined()
    const live = JSON.stringify(livePod(found.workload, found.pod))
    for (const place of ['environment', 'argument', 'annotation']) expect(live).toContain(`${podSecret}-in-${place}`)
  },
)
