import type { Health } from './application.ts'
import { phaseMessage } from './phase-words.ts'
import { isFinished, type Pod, type PodPhase } from './pod.ts'

/** Phases in which the kubelet has started the Pod, although one of its containers may wait for its next run. */
const startedPhases: ReadonlySet<PodPhase> = new Set([
  'Running',
  'CrashLoopBackOff',
  'RunContainerError',
  'OOMKilled',
  'Error',
])

/** The Pod's own phase, which Argo CD's health check looks at. */
export function kubernetesPhase(pod: Pod): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  if (pod.phase === 'Completed') return 'Succeeded'
  if (isFinished(pod)) return 'Failed'
  return startedPhases.has(pod.phase) && !pod.isInitializing ? 'Running' : 'Pending'
}

/** Reasons to wait that Argo CD takes for a failure; `InvalidImageName` is not among them. */
const failureReason = /^Err|Error$|BackOff$/

/** What the resource tree says of a Pod's health, by the rules of Argo CD: init containers have no message. */
export function podHealth(pod: Pod): Health {
  if (pod.isTerminating) return { status: 'Progressing', message: 'Pending deletion' }
  const message = phaseMessage(pod)
  const isAlways = pod.restartPolicy === 'Always'
  const isRefused = message !== undefined && failureReason.test(pod.phase)
  if (isAlways && !pod.isInitializing && isRefused) return { status: 'Degraded', message }
  switch (kubernetesPhase(pod)) {
    case 'Succeeded':
      return { status: 'Healthy' }
    case 'Failed':
      return { status: 'Degraded', message: endMessage(pod) }
    case 'Running':
      if (pod.isReady) return { status: 'Healthy' }
      return { status: isAlways && pod.lastEnded ? 'Degraded' : 'Progressing' }
    case 'Pending':
      return { status: 'Progressing' }
  }
}

const endMessage = ({ phase, container, ended }: Pod) =>
  phase === 'OOMKilled' ? phase : `container "${container.name}" failed with exit code ${ended?.exitCode ?? 1}`

/** The tree's `Status Reason`. */
export function podReason(pod: Pod): string {
  if (pod.isTerminating) return 'Terminating'
  if (!pod.isInitializing) return pod.phase
  return pod.phase === 'Running' || pod.phase === 'ContainerCreating'
    ? `Init:0/${pod.initContainers.length}`
    : `Init:${pod.phase}`
}

/** The containers that are ready; while one of them misbehaves, those beside it are. */
export function readyContainers(pod: Pod): Pod['containers'] {
  if (pod.isReady) return pod.containers
  const others = pod.containers.filter(({ name }) => name !== pod.container.name)
  return phasesBesideOthers.has(pod.phase) && !pod.isInitializing ? others : []
}

/** Phases in which the other containers of the Pod run. */
const phasesBesideOthers: ReadonlySet<PodPhase> = new Set([
  ...startedPhases,
  ...(['ErrImagePull', 'ImagePullBackOff', 'CreateContainerConfigError', 'CreateContainerError'] as const),
])
