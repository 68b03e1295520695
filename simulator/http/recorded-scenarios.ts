import type { PodOverride } from '../model/delivery-controller.ts'
import { createVirtualWorld, type VirtualWorld } from '../model/virtual-world.ts'

/** How a recorded failure is played: the workloads before and after a commit. */
export type RecordedScenario = {
  name: string
  before: readonly Record<string, unknown>[]
  after: readonly Record<string, unknown>[]
  /** What a test may say in place of a word in the tag. */
  override?: PodOverride
  failSync?: string
  /** Until a Pod backs off after so many restarts, or the operation was retried as often; else for 80 seconds. */
  times?: number
}

const of = (name: string, image: string) => [{ name, image: `registry.example/${image}` }]
const web = (tag: string, more: Record<string, unknown> = {}) => ({
  kind: 'Deployment',
  name: 'web',
  replicas: 2,
  containers: of('shop', `shop:${tag}`),
  ...more,
})
const db = (tag: string) => ({ kind: 'Deployment', name: 'db', containers: of('db', `db:${tag}`) })
const migration = (tag: string) => ({
  kind: 'Job',
  name: 'migrate',
  hook: 'PreSync',
  containers: of('migrate', `migrate:${tag}`),
})
const withInit = (tag: string) => ({ initContainers: of('migrate', `migrate:${tag}`) })

const before = [web('1')]
const noAnswer =
  'Get "http://10.0.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
const webhookDown =
  'error when patching "/dev/shm/2262653794": Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: Post "https://127.0.0.1:9/validate?timeout=3s": dial tcp 127.0.0.1:9: connect: connection refused'

export const recordedScenarios: readonly RecordedScenario[] = [
  { name: 'create-error', before, after: [web('2-create-container-error', { progressDeadlineSeconds: 600 })] },
  { name: 'unschedulable', before, after: [web('2-unschedulable')] },
  { name: 'volume-configmap', before, after: [web('2-volume-missing')] },
  {
    name: 'pvc-pending',
    before,
    after: [{ kind: 'PersistentVolumeClaim', name: 'shop-data', pending: true }, web('2')],
  },
  { name: 'quota', before, after: [web('2-quota-exceeded')] },
  { name: 'psa', before, after: [web('2-pod-security-violation')] },
  { name: 'ingress-pending', before, after: [{ kind: 'Ingress', name: 'shop', pending: true }, web('2')] },
  { name: 'oom', before, after: [web('2-oom-killed')], times: 5 },
  {
    name: 'liveness',
    before,
    after: [web('2')],
    override: { newPods: 'liveness-killed', because: noAnswer },
    times: 6,
  },
  { name: 'init-crash', before: [web('1', withInit('1'))], after: [web('2', withInit('2-init-crashes'))], times: 5 },
  { name: 'hook-pull', before, after: [migration('2-image-pull-error'), web('2')] },
  {
    name: 'wave-stuck',
    before: [db('1'), web('1', { wave: 1 })],
    after: [{ ...db('2-never-ready'), progressDeadlineSeconds: 600 }, web('2', { wave: 1 })],
  },
  { name: 'webhook-down', before, after: [web('2')], failSync: webhookDown, times: 5 },
]

export async function playScenario(scenario: RecordedScenario): Promise<VirtualWorld> {
  const { times } = scenario
  const world = createVirtualWorld({
    seed: 3,
    staleLiveCache: 0,
    times: { progressDeadline: times === undefined ? 60_000 : 600_000 },
  })
  const key = world.keyOf('shop')
  await world.createApplication('shop', { destinationNamespace: scenario.name, workloads: scenario.before })
  await world.clock.advance(5_000)
  world.controller.overridePods(key, scenario.override)
  if (scenario.failSync) world.controller.faults.failSync.set('argocd/shop', scenario.failSync)
  world.git.push('gitops', { 'shop/workloads.yaml': JSON.stringify({ workloads: scenario.after }) })
  world.refresh('shop')
  if (times === undefined) await world.clock.advance(80_000)
  else await world.clock.advanceUntil(() => hasHappened(world, times), 900_000)
  return world
}

export const workloadsIn = (world: VirtualWorld) =>
  world.controller.managedAt(world.keyOf('shop'))?.cluster.list() ?? []

function hasHappened(world: VirtualWorld, times: number): boolean {
  const { operationState } = world.application('shop').status
  const isRetried = operationState?.retryCount === times && operationState.finishedAt !== undefined
  const pods = workloadsIn(world).flatMap((workload) => workload.pods)
  return isRetried || pods.some(({ restarts, phase }) => restarts >= times && phase === 'CrashLoopBackOff')
}
