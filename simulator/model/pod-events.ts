import { type Pod, podHealth } from './pod.ts'

export type PodEvent = { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }

/** What Kubernetes would have noted about a Pod on its way to its present state. */
export function podEvents(pod: Pod): readonly PodEvent[] {
  const scheduled: PodEvent = {
    type: 'Normal',
    reason: 'Scheduled',
    message: `Successfully assigned ${pod.name} to node-1`,
  }
  return [scheduled, ...eventsOfPhase(pod)]
}

const warning = (reason: string, message: string): PodEvent => ({ type: 'Warning', reason, message })

function eventsOfPhase(pod: Pod): readonly PodEvent[] {
  const { phase, isReady, containers } = pod
  const image = containers[0]?.image ?? ''
  const why = podHealth(pod).message ?? ''
  const pullFailed = [
    warning('Failed', `Failed to pull image "${image}": ${image}: not found`),
    warning('Failed', 'Error: ErrImagePull'),
  ]
  switch (phase) {
    case 'ErrImagePull':
      return pullFailed
    case 'ImagePullBackOff':
      return [...pullFailed, warning('BackOff', why)]
    case 'InvalidImageName':
      return [warning('InspectFailed', why)]
    case 'CreateContainerConfigError':
      return [warning('Failed', `Error: ${why}`)]
    case 'CrashLoopBackOff':
      return [warning('BackOff', `${why} ${containers[0]?.name ?? ''} in pod ${pod.name}`)]
    case 'Running':
      return isReady ? [] : [warning('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503')]
    default:
      return []
  }
}
