import { hash } from 'node:crypto'
import type { Health } from './application.ts'
import type { Manifest } from './manifest.ts'
import type { NotedEvent } from './noted-event.ts'
import { hasFailed, isFinished, type Pod } from './pod.ts'
import { invalidSpec, type RolloutState } from './rollout-state.ts'

/** One template of a workload, with the Pods made of it: a ReplicaSet, a controller revision, a Job of a CronJob. */
export type PodSet = {
  hash: string
  template: Manifest
  name: string
  uid: string
  revision: number
  createdAt: number
  resourceVersion: string
  /** Why the API server does not admit its Pods: the first answer, and what was noted of all. */
  refusal: { message: string; attempts: number } | undefined
  refusedEvents: NotedEvent[]
}

/** An applied object and what has become of it. */
export type Workload = {
  manifest: Manifest
  uid: string
  createdAt: number
  resourceVersion: string
  generation: number
  observedGeneration: number
  sets: PodSet[]
  pods: Pod[]
  deadlineExceeded: boolean
  isDeleting: boolean
  /** What it waits for has not come: an address, a volume. */
  isPending: boolean
  rollout: RolloutState
}

export function templateHash({ containers, initContainers }: Pick<Manifest, 'containers' | 'initContainers'>): string {
  return hash('sha1', JSON.stringify([containers, initContainers])).slice(0, 10)
}

/** Of all sets but one. */
export function highestRevision({ sets }: Workload, except?: PodSet): number {
  return Math.max(0, ...sets.filter((set) => set !== except).map(({ revision }) => revision))
}

/** That of the newest template; undefined until its controller has seen the change. */
export function currentSet({ sets, manifest }: Workload): PodSet | undefined {
  const hash = templateHash(manifest)
  return sets.find((set) => set.hash === hash)
}

export function hasRollingPods(kind: string): boolean {
  return ['Deployment', 'StatefulSet', 'DaemonSet', 'Rollout', 'Widget'].includes(kind)
}

export type PodCounts = { total: number; updated: number; available: number; updatedReady: number }

/** Counts as Kubernetes does: Pods on their way out are not replicas any more. */
export function podCounts(workload: Workload): PodCounts {
  const hash = templateHash(workload.manifest)
  const pods = workload.pods.filter((pod) => !pod.isTerminating)
  const updated = pods.filter((pod) => pod.hash === hash)
  return {
    total: pods.length,
    updated: updated.length,
    available: pods.filter((pod) => pod.isReady).length,
    updatedReady: updated.filter((pod) => pod.isReady).length,
  }
}

/** Whether only Pods of the wanted template run, and all of them are ready. */
export function isRolledOut(workload: Workload): boolean {
  if (!hasRollingPods(workload.manifest.kind)) return true
  const { total, updated, updatedReady } = podCounts(workload)
  const { replicas } = workload.manifest
  return total === replicas && updated === replicas && updatedReady === replicas
}

/** `undefined` for kinds whose health Argo CD does not check. */
export function workloadHealth(workload: Workload): Health | undefined {
  if (workload.isDeleting) return { status: 'Progressing', message: 'Pending deletion' }
  switch (workload.manifest.kind) {
    case 'Deployment':
      return deploymentHealth(workload)
    case 'StatefulSet':
      return statefulSetHealth(workload)
    case 'DaemonSet':
      return daemonSetHealth(workload)
    case 'Rollout':
      return rolloutHealth(workload)
    case 'Job':
      return jobHealth(workload.pods)
    case 'CronJob':
      return cronJobHealth(workload)
    case 'Widget':
      return widgetHealth(workload)
    case 'Service':
    case 'Ingress':
    case 'PersistentVolumeClaim':
      return { status: workload.isPending ? 'Progressing' : 'Healthy' }
    default:
      return undefined
  }
}

const waiting = (what: string): Health => ({ status: 'Progressing', message: `Waiting for rollout to finish: ${what}` })

const generationBehind = 'observed deployment generation less than desired generation'

function deploymentHealth(workload: Workload): Health {
  const { manifest, generation, observedGeneration } = workload
  if (observedGeneration < generation) return waiting(generationBehind)
  if (workload.deadlineExceeded) {
    return { status: 'Degraded', message: `Deployment "${manifest.name}" exceeded its progress deadline` }
  }
  const { total, updated, updatedReady } = podCounts(workload)
  if (updated < manifest.replicas) {
    return waiting(`${updated} out of ${manifest.replicas} new replicas have been updated...`)
  }
  if (total > updated) return waiting(`${total - updated} old replicas are pending termination...`)
  if (updatedReady < updated) return waiting(`${updatedReady} of ${updated} updated replicas are available...`)
  return { status: 'Healthy' }
}

function statefulSetHealth(workload: Workload): Health {
  const { manifest, generation, observedGeneration } = workload
  if (observedGeneration < generation) {
    return { status: 'Progressing', message: 'Waiting for statefulset spec update to be observed...' }
  }
  const { available, updated, updatedReady } = podCounts(workload)
  if (available < manifest.replicas) {
    return { status: 'Progressing', message: `Waiting for ${manifest.replicas - available} pods to be ready...` }
  }
  if (manifest.updateStrategy === 'OnDelete') {
    return { status: 'Healthy', message: `statefulset has ${available} ready pods` }
  }
  if (updated < manifest.replicas || updatedReady < manifest.replicas) {
    const hash = templateHash(manifest)
    return {
      status: 'Progressing',
      message: `waiting for statefulset rolling update to complete ${updated} pods at revision ${manifest.name}-${hash}...`,
    }
  }
  return {
    status: 'Healthy',
    message: `statefulset rolling update complete ${available} pods at revision ${manifest.name}-${templateHash(manifest)}...`,
  }
}

function daemonSetHealth(workload: Workload): Health {
  const { manifest, generation, observedGeneration } = workload
  const daemon = `daemon set "${manifest.name}" rollout to finish`
  if (observedGeneration < generation) {
    return {
      status: 'Progressing',
      message: `Waiting for ${daemon}: observed daemon set generation less than desired generation`,
    }
  }
  const { updated, available } = podCounts(workload)
  const count = (of: number, what: string) => `Waiting for ${daemon}: ${of} out of ${manifest.replicas} ${what}...`
  if (manifest.updateStrategy === 'OnDelete')
    return {
      status: 'Healthy',
      message: `daemon set ${available} out of ${manifest.replicas} new pods have been updated`,
    }
  if (updated < manifest.replicas)
    return { status: 'Progressing', message: count(updated, 'new pods have been updated') }
  if (available < manifest.replicas)
    return { status: 'Progressing', message: count(available, 'updated pods are available') }
  return { status: 'Healthy' }
}

function rolloutHealth(workload: Workload): Health {
  if (workload.observedGeneration < workload.generation) {
    return { status: 'Progressing', message: 'Waiting for rollout spec update to be observed' }
  }
  const { manifest, rollout } = workload
  const refused = invalidSpec(manifest) ?? rollout.abort
  if (refused !== undefined) return { status: 'Degraded', message: refused }
  if (workload.deadlineExceeded) {
    const set = currentSet(workload)?.name ?? manifest.name
    return { status: 'Degraded', message: `ProgressDeadlineExceeded: ReplicaSet "${set}" has timed out progressing.` }
  }
  const isBlueGreen = manifest.strategy === 'BlueGreen'
  if (rollout.pausedAtMs !== undefined)
    return { status: 'Suspended', message: isBlueGreen ? 'BlueGreenPause' : 'CanaryPauseStep' }
  const { total, updated, updatedReady } = podCounts(workload)
  if (updated < manifest.replicas) return { status: 'Progressing', message: 'more replicas need to be updated' }
  if (updatedReady < updated) return { status: 'Progressing', message: 'updated replicas are still becoming available' }
  if (isBlueGreen && rollout.step < manifest.steps.length && rollout.stableHash !== templateHash(manifest))
    return { status: 'Progressing', message: 'active service cutover pending' }
  if (total > updated) return { status: 'Progressing', message: 'old replicas are pending termination' }
  return { status: 'Healthy' }
}

/** The check of this custom resource ignores the observed generation, so a fresh change still looks healthy. */
function widgetHealth(workload: Workload): Health {
  if (workload.observedGeneration < workload.generation) return { status: 'Healthy' }
  return isRolledOut(workload) ? { status: 'Healthy' } : { status: 'Progressing' }
}

function jobHealth(pods: readonly Pod[]): Health {
  if (pods.some(hasFailed)) {
    return { status: 'Degraded', message: 'Job has reached the specified backoff limit' }
  }
  if (pods.some((pod) => pod.phase === 'Completed')) {
    return { status: 'Healthy', message: 'Reached expected number of succeeded pods' }
  }
  return { status: 'Progressing' }
}

function cronJobHealth(workload: Workload): Health {
  if (workload.pods.some((pod) => !isFinished(pod)))
    return { status: 'Progressing', message: 'CronJob has 1 active job(s)' }
  const last = workload.pods.at(-1)
  if (!last) return { status: 'Healthy', message: 'CronJob has not been scheduled yet' }
  if (hasFailed(last))
    return { status: 'Degraded', message: 'CronJob has not completed its last execution successfully' }
  return { status: 'Healthy', message: 'CronJob has completed its last execution successfully' }
}
