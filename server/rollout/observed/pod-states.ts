import type { Cause } from '../../../contract/causes.ts'
import type { ObservedPod } from './observed-resources.ts'

export type PodCause = Extract<Cause, 'image_pull' | 'image_name' | 'container_config' | 'crash_loop' | 'probe_failing'>

/** The kubelet's reasons why a container waits without a way out of its own. */
const causeOfReason: ReadonlyMap<string, PodCause> = new Map([
  ['ErrImagePull', 'image_pull'],
  ['ImagePullBackOff', 'image_pull'],
  ['ErrImageNeverPull', 'image_pull'],
  ['ImageInspectError', 'image_pull'],
  ['RegistryUnavailable', 'image_pull'],
  ['SignatureValidationFailed', 'image_pull'],
  ['InvalidImageName', 'image_name'],
  ['CreateContainerConfigError', 'container_config'],
  ['CreateContainerError', 'container_config'],
  ['RunContainerError', 'container_config'],
  ['CrashLoopBackOff', 'crash_loop'],
])

const withoutInit = (reason: string | undefined) => reason?.replace(/^Init:/, '') ?? ''

/** A Pod that runs without being ready may only be slow, so that alone ends nothing early. */
export function causeOfState({ reason, health }: ObservedPod): PodCause | undefined {
  if (reason === 'Running' && health !== undefined && health !== 'Healthy') return 'probe_failing'
  return causeOfReason.get(withoutInit(reason))
}

/** Whether its containers have not begun to run, and may still. */
export const isPodWaiting = ({ reason = '' }: ObservedPod): boolean =>
  ['Pending', 'ContainerCreating', 'PodInitializing', 'SchedulingGated'].includes(reason) ||
  /^Init:\d+\/\d+$/.test(reason)

/** Whether a container has just ended, or waits to be started again. */
export const isPodCrashing = ({ reason }: ObservedPod): boolean =>
  ['CrashLoopBackOff', 'Error', 'OOMKilled', 'StartError', 'ContainerCannotRun'].includes(withoutInit(reason))

export const isInInit = ({ reason }: ObservedPod): boolean => reason?.startsWith('Init:') ?? false
