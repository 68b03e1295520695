import type { NotedEvent, Reporter } from './noted-event.ts'
import type { Pod } from './pod.ts'
import { creatorOf } from './refused-pods.ts'
import { hasReplicaSets } from './render-resource-tree.ts'
import { claimEvents, templateClaim } from './volume-claim.ts'
import type { PodSet, Workload } from './workload.ts'

export type InvolvedObject = {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
  readonly apiVersion: string
}

export type ResourceEvents = { readonly involved: InvolvedObject; readonly events: readonly NotedEvent[] }

/** What Kubernetes has noted about one resource of the tree; undefined where the tree has no such uid. */
export function resourceEvents(workloads: readonly Workload[], uid: string): ResourceEvents | undefined {
  for (const workload of workloads) {
    const found = eventsIn(workload, uid)
    if (found) return found
  }
  return undefined
}

function eventsIn(workload: Workload, uid: string): ResourceEvents | undefined {
  const { manifest } = workload
  const { namespace } = manifest
  const pod = workload.pods.find((one) => one.uid === uid)
  if (pod) return { involved: { kind: 'Pod', namespace, name: pod.name, uid, apiVersion: 'v1' }, events: pod.events }
  const set = hasReplicaSets(manifest) ? workload.sets.find((one) => one.uid === uid) : undefined
  if (set) {
    const involved = { kind: 'ReplicaSet', namespace, name: set.name, uid, apiVersion: 'apps/v1' }
    return { involved, events: eventsOfSet(workload, set, 'replicaset-controller') }
  }
  const claim = templateClaim(workload)
  if (claim?.uid === uid) {
    const involved = { kind: 'PersistentVolumeClaim', namespace, name: claim.name, uid, apiVersion: 'v1' }
    return { involved, events: claimEvents(claim.createdAt) }
  }
  if (workload.uid !== uid) return undefined
  const apiVersion = manifest.group === '' ? manifest.version : `${manifest.group}/${manifest.version}`
  return {
    involved: { kind: manifest.kind, namespace, name: manifest.name, uid, apiVersion },
    events: ownEvents(workload),
  }
}

function ownEvents(workload: Workload): readonly NotedEvent[] {
  const { kind } = workload.manifest
  if (kind === 'PersistentVolumeClaim') return workload.isPending ? claimEvents(workload.createdAt) : []
  const isCreator = !hasReplicaSets(workload.manifest) && kind !== 'CronJob'
  if (isCreator) return workload.sets.flatMap((set) => eventsOfSet(workload, set, creatorOf(kind)))
  return []
}

function eventsOfSet({ pods }: Workload, { hash, refusedEvents }: PodSet, by: Reporter): readonly NotedEvent[] {
  return [...refusedEvents, ...pods.filter((pod) => pod.hash === hash).map((pod) => created(pod, by))]
}

function created({ name, createdAt }: Pod, by: Reporter): NotedEvent {
  const words = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}`, by } as const
  return { ...words, firstAtMs: createdAt, lastAtMs: createdAt, count: 1 }
}
