import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { PodOverride } from '../model/delivery-controller.ts'
import { livePod } from '../model/live-pod.ts'
import { renderResourceTree } from '../model/render-resource-tree.ts'
import { resourceEvents } from '../model/resource-events.ts'
import { createVirtualWorld, type VirtualWorld } from '../model/virtual-world.ts'
import { renderEvent } from './read-events.ts'

/** What a real Argo CD showed of a failure: culprit and owners, their events, and the status of the live Pod. */
const Recorded = z.object({
  nodes: z.array(z.looseObject({ kind: z.string(), name: z.string() })),
  events: z.record(z.string(), z.array(z.looseObject({ reason: z.string(), message: z.string() }))),
  status: z.unknown().optional(),
  metadata: z.looseObject({}).optional(),
})

function recorded(scenario: string) {
  return Recorded.parse(
    JSON.parse(readFileSync(new URL(`../model/recorded-failures/${scenario}.json`, import.meta.url), 'utf8')),
  )
}

const container = (tag: string) => [{ name: 'shop', image: `registry.example/shop:${tag}` }]
const migrate = (tag: string) => [{ name: 'migrate', image: `registry.example/migrate:${tag}` }]

type Scenario = {
  scenario: string
  /** What the new commit changes in the Deployment `web`. */
  workload: Record<string, unknown>
  /** What it was like before. */
  first?: Record<string, unknown>
  /** What comes with it. */
  beside?: readonly Record<string, unknown>[]
  /** What a test may say in place of a word in the tag. */
  override?: PodOverride
  /** Until the Pod backs off after so many restarts; else for 80 seconds. */
  restarts?: number
}

async function played({ scenario, workload, first, beside = [], override, restarts }: Scenario) {
  const world = createVirtualWorld({
    seed: 3,
    staleLiveCache: 0,
    times: { progressDeadline: restarts ? 600_000 : 60_000 },
  })
  const web = { kind: 'Deployment', name: 'web', replicas: 2 }
  await world.createApplication('shop', {
    destinationNamespace: scenario,
    workloads: [{ ...web, containers: container('1'), ...first }],
  })
  await world.clock.advance(5_000)
  world.controller.overridePods(world.keyOf('shop'), override)
  world.git.push('gitops', {
    'shop/workloads.yaml': JSON.stringify({ workloads: [...beside, { ...web, ...workload }] }),
  })
  world.refresh('shop')
  if (restarts) await world.clock.advanceUntil(() => isBackingOff(world, restarts), 900_000)
  else await world.clock.advance(80_000)
  return world
}

const isBackingOff = (world: VirtualWorld, restarts: number) =>
  workloadsOf(world).some(({ pods }) =>
    pods.some((pod) => pod.restarts >= restarts && pod.phase === 'CrashLoopBackOff'),
  )

const workloadsOf = (world: VirtualWorld) => world.controller.managedAt(world.keyOf('shop'))?.cluster.list() ?? []

/** Without what differs from run to run: names, identifiers, times, counts, and how long the kubelet backs off. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\b(web|migrate|db)-([0-9a-f]{8,10}-?)?([a-z0-9]{5}(?![a-z0-9]))?/g, '<$1>')
    .replace(/\d{4}-\d\d-\d\dT[\d:]+(\.\d+)?Z/g, '<time>')
    .replace(/back-off \w+ restarting/g, 'back-off <n> restarting')
    .replace(/registry\.example\/(\w+):[\w-]+/g, 'registry.example/$1')
    .replace(/"(count|restartCount)":\d+/g, '"$1":0')
    .replace(/("Restart Count","value":)"\d+"/g, '$1"<n>"')
    .replace(/"(pod-template-hash|podIP|ip|qosClass)":"[^"]*"/g, '"$1":"<any>"')
    .replace(/("name":"cpu","value":)"\d+"/g, '$1"<any>"')
    .replace(/,?"resourceVersion":"\d+"/g, '')
  return JSON.parse(text)
}

/** In one order, without the names that only Kubernetes gives them, and each once. */
const withoutNames = (events: readonly unknown[]) =>
  z
    .array(z.looseObject({ reason: z.string(), message: z.string(), metadata: z.unknown() }))
    .parse(JSON.parse(JSON.stringify(events)))
    .map(({ metadata: _, ...event }) => event)
    .toSorted((one, other) => (one.reason + one.message < other.reason + other.message ? -1 : 1))
    .map(comparable)
    .filter((event, index, all) => JSON.stringify(event) !== JSON.stringify(all[index - 1]))

const scenarios: readonly Scenario[] = [
  {
    scenario: 'create-error',
    workload: { containers: container('2-create-container-error'), progressDeadlineSeconds: 600 },
  },
  { scenario: 'unschedulable', workload: { containers: container('2-unschedulable') } },
  { scenario: 'volume-configmap', workload: { containers: container('2-volume-missing') } },
  {
    scenario: 'pvc-pending',
    workload: { containers: container('2') },
    beside: [{ kind: 'PersistentVolumeClaim', name: 'shop-data', pending: true }],
  },
  { scenario: 'quota', workload: { containers: container('2-quota-exceeded') } },
  { scenario: 'psa', workload: { containers: container('2-pod-security-violation') } },
  {
    scenario: 'ingress-pending',
    workload: { containers: container('2') },
    beside: [{ kind: 'Ingress', name: 'shop', pending: true }],
  },
  { scenario: 'oom', workload: { containers: container('2-oom-killed') }, restarts: 5 },
  {
    scenario: 'liveness',
    workload: { containers: container('2') },
    override: {
      newPods: 'liveness-killed',
      because:
        'Get "http://10.0.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    },
    restarts: 6,
  },
  {
    scenario: 'init-crash',
    workload: { containers: container('2'), initContainers: migrate('2-init-crashes') },
    first: { initContainers: migrate('1') },
    restarts: 5,
  },
]

describe('a failure looks as a real Argo CD showed it', () => {
  test.for(scenarios)('$scenario', async (scenario) => {
    const world = await played(scenario)
    const theirs = recorded(scenario.scenario)
    const workloads = workloadsOf(world)
    for (const node of theirs.nodes) {
      const ours = newest(renderResourceTree(workloads).nodes ?? [], node.kind)
      expect(comparable(ours)).toEqual(comparable(node))
      const events = theirs.events[node.kind]
      const noted = resourceEvents(workloads, ours?.uid ?? '')
      if (events)
        expect(withoutNames(noted?.events.flatMap((event) => renderEvent(event, noted.involved)) ?? [])).toEqual(
          withoutNames(events),
        )
    }
    const pod = z.object({ status: z.unknown(), metadata: z.looseObject({}) }).parse(newestPod(world))
    if (!theirs.metadata) return
    expect(comparable(pod.status)).toEqual(comparable(theirs.status))
    expect(comparable({ ...pod.metadata, annotations: {} })).toEqual(
      comparable({ ...theirs.metadata, annotations: {} }),
    )
  })
})

function newest<Node extends { kind: string; createdAt: string }>(
  nodes: readonly Node[],
  kind: string,
): Node | undefined {
  return nodes.filter((node) => node.kind === kind).toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0]
}

function newestPod(world: VirtualWorld): unknown {
  const all = workloadsOf(world).flatMap((workload) => workload.pods.map((pod) => ({ workload, pod })))
  const last = all.toSorted((a, b) => b.pod.createdAt - a.pod.createdAt)[0]
  return last && JSON.parse(JSON.stringify(livePod(last.workload, last.pod)))
}
