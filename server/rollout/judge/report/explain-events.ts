import type { Cause } from '../../../../contract/causes.ts'
import type { ResourceEvent } from '../../observed/observed-resources.ts'

/** What an event says of why its resource stands still. */
export type Explanation = {
  readonly cause: Cause
  readonly reason: string
  readonly message: string
  readonly container: string | undefined
}

type Rule = { readonly reasons: readonly string[]; causeOf(message: string): Cause }

const isMissingConfig = (message: string) =>
  /\b(configmap|secret)s?\b.*not found|references non-existent (config|secret) key/i.test(message)
const isAboutClaim = (message: string) => /persistentvolumeclaim/i.test(message)

/** From what stops a Pod for good to what only delays it. */
const rules: readonly Rule[] = [
  { reasons: ['FailedCreate'], causeOf: causeOfRejection },
  {
    reasons: ['FailedScheduling'],
    causeOf: (message) => (isAboutClaim(message) ? 'volume_unavailable' : 'unschedulable'),
  },
  {
    reasons: ['FailedMount', 'FailedAttachVolume', 'FailedMapVolume'],
    causeOf: (message) => (isMissingConfig(message) ? 'container_config' : 'volume_unavailable'),
  },
  { reasons: ['ProvisioningFailed', 'FailedBinding'], causeOf: () => 'volume_unavailable' },
  { reasons: ['FailedCreatePodSandBox', 'NetworkNotReady', 'FailedPostStartHook'], causeOf: () => 'container_config' },
  {
    reasons: ['Failed'],
    causeOf: (message) => (/\bpull|ErrImage|ImagePull/.test(message) ? 'image_pull' : 'container_config'),
  },
]

/** Why the API server refused to create something for a workload. */
export function causeOfRejection(message: string): Cause {
  if (/exceeded quota/i.test(message)) return 'quota_exceeded'
  const isByPolicy =
    /violates PodSecurity|admission webhook|failed calling webhook|ValidatingAdmissionPolicy|is forbidden/i
  return isByPolicy.test(message) ? 'admission_denied' : 'degraded'
}

/** The last event that tells why a resource stands still, if one does. */
export function explainEvents(events: readonly ResourceEvent[]): Explanation | undefined {
  for (const { reasons, causeOf } of rules) {
    const event = events.findLast(({ reason, message }) => reasons.includes(reason) && message !== '')
    if (event === undefined) continue
    const message = withoutPrefix(event.message)
    return { cause: causeOf(message), reason: event.reason, message, container: event.container }
  }
  return undefined
}

const withoutPrefix = (message: string) =>
  message.replace(/^\(combined from similar events\): /, '').replace(/^Error creating: /, '')

export const renderEvent = ({ reason, message }: ResourceEvent): string => `${reason}: ${message}`
