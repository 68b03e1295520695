import type { Health } from './application.ts'
import type { Container } from './manifest.ts'

/** How the Pods of an image behave. `flap`: ready for a moment, then crashing again and again. `held`: ready once told. */
export type PodBehaviour =
  | 'runs'
  | 'image-pull-error'
  | 'pulled-late'
  | 'invalid-image-name'
  | 'config-error'
  | 'crashes'
  | 'flaps'
  | 'never-ready'
  | 'held'
  | 'fails'

type PodPhase =
  | 'Pending'
  | 'ContainerCreating'
  | 'Running'
  | 'ErrImagePull'
  | 'ImagePullBackOff'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CrashLoopBackOff'
  | 'Completed'
  | 'Error'

export type Pod = {
  name: string
  uid: string
  hash: string
  containers: readonly Container[]
  initContainers: readonly Container[]
  createdAt: number
  behaviour: PodBehaviour
  phase: PodPhase
  isReady: boolean
  isTerminating: boolean
  restarts: number
  resourceVersion: string
}

/** Which images misbehave when nothing else is said; the recordings' own naming rule. */
export function behaviourByTag(image: string): PodBehaviour {
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1] ?? ''
  if (tag.includes('bad')) return 'image-pull-error'
  if (tag.includes('crash')) return 'crashes'
  if (tag.includes('flap')) return 'flaps'
  if (tag.includes('fail')) return 'fails'
  return 'runs'
}

/** What the resource tree says of a Pod's health. */
export function podHealth(pod: Pod): Health {
  if (pod.isTerminating) return { status: 'Progressing', message: 'Pending deletion' }
  const image = pod.containers[0]?.image ?? ''
  switch (pod.phase) {
    case 'ErrImagePull':
      return {
        status: 'Degraded',
        message: `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`,
      }
    case 'ImagePullBackOff':
      return { status: 'Degraded', message: `Back-off pulling image "${image}"` }
    case 'InvalidImageName':
      return { status: 'Degraded', message: `Failed to apply default image tag "${image}": couldn't parse image name` }
    case 'CreateContainerConfigError':
      return { status: 'Degraded', message: `secret "${pod.containers[0]?.name ?? ''}" not found` }
    case 'CrashLoopBackOff':
      return { status: 'Degraded', message: 'back-off 10s restarting failed container' }
    case 'Error':
      return { status: 'Degraded', message: `container "${pod.containers[0]?.name ?? ''}" failed with exit code 1` }
    case 'Completed':
      return { status: 'Healthy' }
    default:
      return { status: pod.isReady ? 'Healthy' : 'Progressing' }
  }
}

/** The tree's `Status Reason`. */
export function podReason(pod: Pod): string {
  return pod.isTerminating ? 'Terminating' : pod.phase
}

export function isFinished(pod: Pod): boolean {
  return pod.phase === 'Completed' || pod.phase === 'Error'
}
