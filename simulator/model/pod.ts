import type { Container } from './manifest.ts'
import type { NotedEvent } from './noted-event.ts'
import type { PodBehaviour } from './pod-behaviours.ts'

/** What kubectl shows for the container that the Pod's behaviour is about; `Pending`: no node has been found yet. */
export type PodPhase =
  | 'Pending'
  | 'ContainerCreating'
  | 'PodInitializing'
  | 'Running'
  | 'ErrImagePull'
  | 'ImagePullBackOff'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'CrashLoopBackOff'
  | 'OOMKilled'
  | 'Completed'
  | 'Error'

/** One run of a container that is over. */
export type EndedRun = { startedAtMs: number; finishedAtMs: number; exitCode: number; reason: string }

export type Pod = {
  name: string
  namespace: string
  uid: string
  hash: string
  containers: readonly Container[]
  initContainers: readonly Container[]
  createdAt: number
  /** Pods of Jobs are started once, and Argo CD does not call them Degraded while they wait. */
  restartPolicy: 'Always' | 'Never'
  behaviour: PodBehaviour
  /** Words of the test in place of the usual reason. */
  because: string | undefined
  /** The container that the behaviour is about; the others run. */
  container: Container
  phase: PodPhase
  /** While it is about an init container, kubectl puts `Init:` before the phase. */
  isInitializing: boolean
  isReady: boolean
  isTerminating: boolean
  restarts: number
  /** How often the kubelet has made the container wait: each time twice as long. */
  backOffs: number
  startedAtMs: number
  /** The end that the phase shows, and the one before it. */
  ended: EndedRun | undefined
  lastEnded: EndedRun | undefined
  events: NotedEvent[]
  resourceVersion: string
}

/** Only what is started once can be over. */
export function isFinished({ phase, restartPolicy }: Pod): boolean {
  return restartPolicy === 'Never' && (phase === 'Completed' || phase === 'Error' || phase === 'OOMKilled')
}

export function hasFailed(pod: Pod): boolean {
  return isFinished(pod) && pod.phase !== 'Completed'
}
