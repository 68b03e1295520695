import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { livePod } from '../model/live-pod.ts'
import { renderResourceTree } from '../model/render-resource-tree.ts'
import { resourceEvents } from '../model/resource-events.ts'
import type { VirtualWorld } from '../model/virtual-world.ts'
import { renderEvent } from './read-events.ts'
import { playScenario, recordedScenarios, workloadsIn } from './recorded-scenarios.ts'

/** What a real Argo CD showed of a failure: culprit and owners, their events, and the status of the live Pod. */
const Recorded = z.object({
  nodes: z.array(z.looseObject({ kind: z.string(), name: z.string() })),
  events: z.record(z.string(), z.array(z.looseObject({ reason: z.string(), message: z.string() }))),
  status: z.unknown().optional(),
  metadata: z.looseObject({}).optional(),
  operationState: z.unknown().optional(),
})

function recorded(scenario: string) {
  return Recorded.parse(
    JSON.parse(readFileSync(new URL(`../model/recorded-failures/${scenario}.json`, import.meta.url), 'utf8')),
  )
}

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
    .replace(/[0-9a-f]{40}/g, '<commit>')
    .replace(/"source":\{"repoURL[^}]*\}/g, '"source":"<any>"')
    .replace(/ at \d+:\d\d[AP]M/g, ' at <time>')
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

describe('a failure looks as a real Argo CD showed it', () => {
  test.for(recordedScenarios)('$name', async (scenario) => {
    const world = await playScenario(scenario)
    const theirs = recorded(scenario.name)
    const workloads = workloadsIn(world)
    for (const node of theirs.nodes) {
      const ours = newest(renderResourceTree(workloads).nodes ?? [], node)
      expect(comparable(ours)).toEqual(comparable(node))
      const events = theirs.events[node.kind]
      const noted = resourceEvents(workloads, ours?.uid ?? '')
      const rendered = noted?.events.flatMap((event) => renderEvent(event, noted.involved)) ?? []
      if (events) expect(withoutNames(rendered)).toEqual(withoutNames(events))
    }
    if (theirs.operationState) {
      const { operation: _, ...state } = world.application('shop').status.operationState ?? {}
      expect(comparable(state)).toEqual(comparable(theirs.operationState))
    }
    if (!theirs.metadata) return
    const pod = z.object({ status: z.unknown(), metadata: z.looseObject({}) }).parse(newestPod(world))
    expect(comparable(pod.status)).toEqual(comparable(theirs.status))
    expect(comparable({ ...pod.metadata, annotations: {} })).toEqual(
      comparable({ ...theirs.metadata, annotations: {} }),
    )
  })
})

type Node = { kind: string; name: string }
const stem = ({ name }: Node) => name.split('-')[0]

function newest<Ours extends Node & { createdAt: string }>(nodes: readonly Ours[], like: Node): Ours | undefined {
  const alike = nodes.filter((node) => node.kind === like.kind && stem(node) === stem(like))
  return alike.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0]
}

function newestPod(world: VirtualWorld): unknown {
  const all = workloadsIn(world).flatMap((workload) => workload.pods.map((pod) => ({ workload, pod })))
  const last = all.toSorted((a, b) => b.pod.createdAt - a.pod.createdAt)[0]
  return last && JSON.parse(JSON.stringify(livePod(last.workload, last.pod)))
}
