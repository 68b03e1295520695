import { type EventWords, kubeletEvent } from './noted-event.ts'
import type { Pod, PodPhase } from './pod.ts'

type PhaseWords = {
  /** Why the container waits, as its status and the resource tree say it; without one it runs or is over. */
  readonly message?: (pod: Pod) => string
  /** What the kubelet notes each time when the phase begins. */
  readonly events?: (pod: Pod, message: string) => readonly EventWords[]
}

const failed = (pod: Pod, message: string): EventWords => kubeletEvent(pod, 'Warning', 'Failed', `Error: ${message}`)
const notFound = ({ container: { image } }: Pod) =>
  `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`
const cannotStart =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "/app/server": stat /app/server: no such file or directory: unknown'

/** The words of each phase, as the recordings have them. */
const phaseWords: Readonly<Partial<Record<PodPhase, PhaseWords>>> = {
  Running: {
    events: (pod) => [kubeletEvent(pod, 'Normal', 'Started', `Started container ${pod.container.name}`)],
  },
  ErrImagePull: {
    message: (pod) => pod.because ?? notFound(pod),
    events: (pod, message) => [
      kubeletEvent(pod, 'Normal', 'Pulling', `Pulling image "${pod.container.image}"`),
      kubeletEvent(
        pod,
        'Warning',
        'Failed',
        `Failed to pull image "${pod.container.image}": rpc error: code = NotFound desc = ${message}`,
      ),
      failed(pod, 'ErrImagePull'),
    ],
  },
  ImagePullBackOff: {
    message: ({ container }) => `Back-off pulling image "${container.image}"`,
    events: (pod, message) => [failed(pod, 'ImagePullBackOff'), kubeletEvent(pod, 'Normal', 'BackOff', message)],
  },
  InvalidImageName: {
    message: ({ container: { image } }) => `Failed to apply default image tag "${image}": couldn't parse image name`,
    events: (pod, message) => [kubeletEvent(pod, 'Warning', 'InspectFailed', message)],
  },
  CreateContainerConfigError: {
    message: (pod) => pod.because ?? `secret "${pod.container.name}" not found`,
    events: (pod, message) => [failed(pod, message)],
  },
  CreateContainerError: {
    message: (pod) =>
      pod.because ??
      'failed to generate container "9f2c4d0a1be7" spec: failed to generate spec: failed to mkdir "/srv/cache": mkdir /srv/cache: read-only file system',
    events: (pod, message) => [failed(pod, message)],
  },
  RunContainerError: {
    message: (pod) => pod.because ?? cannotStart,
    events: (pod, message) => [failed(pod, message)],
  },
  CrashLoopBackOff: {
    message: (pod) =>
      `back-off ${backOffText(pod.backOffs)} restarting failed container=${pod.container.name} pod=${longName(pod)}`,
    events: (pod) => [
      kubeletEvent(
        pod,
        'Warning',
        'BackOff',
        `Back-off restarting failed container ${pod.container.name} in pod ${longName(pod)}`,
      ),
    ],
  },
}

const longName = ({ name, namespace, uid }: Pod) => `${name}_${namespace}(${uid})`

/** Ten seconds, twice as long each time, at most five minutes; as Go writes durations. */
function backOffText(times: number): string {
  const seconds = Math.min(10 * 2 ** (Math.max(1, times) - 1), 300)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

export function phaseMessage(pod: Pod): string | undefined {
  return phaseWords[pod.phase]?.message?.(pod)
}

export function phaseEvents(pod: Pod): readonly EventWords[] {
  return phaseWords[pod.phase]?.events?.(pod, phaseMessage(pod) ?? '') ?? []
}
