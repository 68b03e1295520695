import type { Cause } from '../../../../contract/causes.ts'
import type { Culprit } from '../../../../contract/diagnosis.ts'
import type { LiveContainer, ObservedPod, ResourceEvent, TreeResource } from '../../observed/observed-resources.ts'
import { isInInit } from '../../observed/pod-states.ts'
import { unboundClaim } from '../../observed/resource-owners.ts'
import { type BadPod, startErrorOf } from '../conditions/judge-pods.ts'
import type { Suspect } from '../conditions/suspect.ts'
import { type JudgeInput, secondsAt } from '../input/judge-input.ts'
import { type Verdict, verdictOf } from '../input/verdict.ts'
import { causeOfRejection, type Explanation, explainEvents } from './explain-events.ts'

type Facts = Pick<JudgeInput, 'observation' | 'restarts' | 'task' | 'nowMs'>

/** What a suspect is blamed for. `undefined`: a Pod only waits, and no event says for what. */
export function accuse({ found }: Suspect, facts: Facts): Verdict | undefined {
  const { events } = facts.observation
  if (found.kind === 'pod') return accusePod(found, facts)
  if (found.kind === 'resource') return accuseResource(found.resource, events.get(found.resource.uid)?.value ?? [])
  const explained = explainEvents(events.get(found.pod.uid)?.value ?? [])
  return explained && verdictOf(explained.cause, { culprit: culpritOfWaiting(found.pod, explained, facts) })
}

/** A claim that is not bound is blamed itself where the tree has one, not the Pod that waits for it. */
function culpritOfWaiting(pod: ObservedPod, { cause, reason, message, container }: Explanation, facts: Facts): Culprit {
  const { tree, events } = facts.observation
  const isUnbound = cause === 'volume_unavailable' && reason === 'FailedScheduling'
  const claim = isUnbound ? unboundClaim(tree?.value, pod) : undefined
  if (claim === undefined) {
    const { namespace, name } = pod
    return { kind: 'Pod', namespace, name, ...(container === undefined ? {} : { container }), reason, message }
  }
  const why = explainEvents(events.get(claim.uid)?.value ?? [])
  const { kind, namespace, name } = claim
  return { kind, namespace, name, reason: why?.reason ?? reason, message: why?.message ?? message }
}

function accuseResource(resource: TreeResource, events: readonly ResourceEvent[]): Verdict {
  const { kind, namespace, name, health, message = '' } = resource
  const rejected = message === '' ? 'degraded' : causeOfRejection(message)
  const explained = rejected === 'degraded' ? explainEvents(events) : undefined
  if (explained !== undefined) {
    const { cause, reason } = explained
    return verdictOf(cause, { culprit: { kind, namespace, name, reason, message: explained.message } })
  }
  const cause: Cause = health === 'Degraded' ? rejected : 'timeout'
  const reason = cause === 'degraded' || cause === 'timeout' ? {} : { reason: 'FailedCreate' }
  return verdictOf(cause, { culprit: { kind, namespace, name, ...reason, message } })
}

/** A Pod in a bad state, with what its events and the live object add. */
export function accusePod(bad: BadPod, facts: Facts): Verdict {
  const { pod, cause } = bad
  const { namespace, name, uid } = pod
  const events = facts.observation.events.get(uid)?.value ?? []
  const probe = probeOf(bad, events)
  const unstarted = cause === 'container_config' ? startErrorOf(facts.observation.livePods.get(uid)?.value) : undefined
  const live = unstarted ?? containerOf(bad, events, facts)
  const container = live?.name ?? containerNameOf(pod, probe?.event ?? failureOf(bad, events))
  const last = cause === 'crash_loop' ? live?.lastTermination : undefined
  const isKilled = last?.reason === 'OOMKilled' || pod.reason?.endsWith('OOMKilled') === true
  const culprit: Culprit = {
    kind: 'Pod',
    namespace,
    name,
    ...(container === undefined ? {} : { container }),
    ...((live?.isInit ?? isInInit(pod)) ? { is_init: true } : {}),
    reason: isKilled ? 'OOMKilled' : (unstarted?.lastTermination?.reason ?? reasonOf(pod, probe)),
    message: unstarted?.lastTermination?.message ?? messageOf(bad, events, probe),
    ...(last?.exitCode === undefined ? {} : { exit_code: last.exitCode }),
    ...(isKilled && live?.memoryLimit !== undefined ? { memory_limit: live.memoryLimit } : {}),
    ...(probe === undefined || isKilled ? {} : { probe: probe.kind }),
    ...(cause === 'crash_loop' ? restartsOf(pod, facts) : {}),
  }
  return verdictOf(cause, { culprit })
}

type Probe = { readonly kind: 'readiness' | 'liveness' | 'startup'; readonly event: ResourceEvent }

const probeKinds = { Readiness: 'readiness', Liveness: 'liveness', Startup: 'startup' } as const

/** The probe that keeps a container from getting ready or has it killed. */
function probeOf({ cause }: BadPod, events: readonly ResourceEvent[]): Probe | undefined {
  if (cause !== 'probe_failing' && cause !== 'crash_loop') return undefined
  // Only these two kill a container; one that crashes is not ready either.
  const words =
    cause === 'crash_loop' ? (['Liveness', 'Startup'] as const) : (['Startup', 'Readiness', 'Liveness'] as const)
  const isKilledByProbe = events.some(({ reason }) => reason === 'Killing')
  if (cause === 'crash_loop' && !isKilledByProbe) return undefined
  for (const word of words) {
    const event = events.findLast(
      ({ reason, message }) => reason === 'Unhealthy' && message.startsWith(`${word} probe`),
    )
    if (event !== undefined) return { kind: probeKinds[word], event }
  }
  return undefined
}

const reasonOf = ({ reason = '' }: ObservedPod, probe: Probe | undefined) =>
  probe === undefined ? reason : 'Unhealthy'

/** Of several containers the one that failed: the events, then the restarts of the live Pod tell. */
function containerOf(bad: BadPod, events: readonly ResourceEvent[], { observation }: Facts): LiveContainer | undefined {
  const containers = observation.livePods.get(bad.pod.uid)?.value?.containers ?? []
  const named = containerNameOf(bad.pod, probeOf(bad, events)?.event ?? failureOf(bad, events))
  const found = containers.find(({ name }) => name === named)
  if (found !== undefined || bad.cause !== 'crash_loop') return found
  return containers.filter(({ restarts }) => restarts > 0).toSorted((a, b) => b.restarts - a.restarts)[0]
}

/** Kubernetes' words: "back-off 10s restarting failed container=app pod=…". */
export const failedContainerOf = ({ message }: Pick<ObservedPod, 'message'>) =>
  /\bcontainer=([a-z0-9-]+)/.exec(message ?? '')?.[1]

const containerNameOf = (pod: ObservedPod, event: ResourceEvent | undefined): string | undefined =>
  failedContainerOf(pod) ?? event?.container

const failureReasons: readonly string[] = ['BackOff', 'Failed', 'InspectFailed', 'Killing']

/** Why an image could not be pulled, the state of a Pod says only between two tries; an event always does. */
function failureOf({ cause }: BadPod, events: readonly ResourceEvent[]): ResourceEvent | undefined {
  const isPull = ({ message }: ResourceEvent) => message.startsWith('Failed to pull')
  const failures = events.filter(({ reason }) => failureReasons.includes(reason))
  const isError = ({ reason }: ResourceEvent) => reason === 'Failed'
  if (cause === 'image_pull') return failures.findLast(isPull) ?? failures.at(-1)
  return (cause === 'container_config' ? failures.findLast(isError) : undefined) ?? failures.at(-1)
}

function messageOf(bad: BadPod, events: readonly ResourceEvent[], probe: Probe | undefined): string {
  const { pod, cause } = bad
  if (probe !== undefined) return `${probe.event.reason}: ${probe.event.message}`
  if (cause === 'probe_failing') return pod.message ?? 'its readiness probe has not succeeded'
  const event = failureOf(bad, events)
  const isWhole =
    event?.message.startsWith('Failed to pull') || (cause === 'container_config' && event?.reason === 'Failed')
  const why = isWhole ? event?.message : undefined
  return [pod.reason, why ?? pod.message ?? event?.message]
    .filter((text) => text !== undefined && text !== '')
    .join(': ')
}

/** How often it restarted, and in how many seconds since it was created or the restarts were first counted. */
function restartsOf(pod: ObservedPod, { restarts, task, nowMs }: Facts): Pick<Culprit, 'restarts' | 'over'> {
  const known = restarts.get(pod.uid)
  const count = (pod.restarts ?? 0) - (known?.base ?? 0)
  if (count <= 0) return {}
  const createdSeconds = pod.createdAtMs === undefined ? undefined : pod.createdAtMs / 1_000
  const isWholeLife = known === undefined || known.base === 0
  const over = isWholeLife && createdSeconds !== undefined ? secondsAt(task, nowMs) - createdSeconds : undefined
  return { restarts: count, ...(over === undefined || over < 1 ? {} : { over: Math.round(over) }) }
}
