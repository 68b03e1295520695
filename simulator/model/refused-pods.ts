import type { Container } from './manifest.ts'
import type { EventWords, NotedEvent, Reporter } from './noted-event.ts'
import type { PodBehaviour } from './pod-behaviours.ts'

type Subject = {
  readonly podName: string
  readonly container: Container | undefined
  readonly because: string | undefined
}

const forbidden =
  (reason: (container: string) => string) =>
  ({ podName, container, because }: Subject) =>
    `pods "${podName}" is forbidden: ${because ?? reason(container?.name ?? '')}`

const securityViolation = (container: string) =>
  `violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "${container}" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "${container}" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "${container}" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "${container}" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`

/** The API server's answer to the creation of such a Pod. */
const refusals: Readonly<Partial<Record<PodBehaviour, (subject: Subject) => string>>> = {
  'quota-exceeded': forbidden(() => 'exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2'),
  'pod-security-violation': forbidden(securityViolation),
  'webhook-denial': ({ container, because }) =>
    `admission webhook "validate.acme.example" denied the request: ${because ?? `image ${container?.image} is not signed`}`,
}

export const isRefused = (behaviour: PodBehaviour) => refusals[behaviour] !== undefined

export function refusalOf(behaviour: PodBehaviour, subject: Subject): string {
  return refusals[behaviour]?.(subject) ?? ''
}

/** Kubernetes keeps nine similar events one by one, and combines the rest. */
const mostAlike = 9
export const combined = '(combined from similar events): '

/** Notes at the Pod's creator that it was refused, as Kubernetes does. */
export function noteRefusal(
  events: NotedEvent[],
  creator: { kind: string; name: string },
  { podName, message }: { podName: string; message: string },
  atMs: number,
): void {
  const said = wordsOf(creator, podName, message)
  const fresh = { firstAtMs: atMs, lastAtMs: atMs, count: 1 }
  const last = events[mostAlike]
  const text = `${combined}${said.message}`
  if (events.length < mostAlike) events.push({ ...said, ...fresh })
  else
    events[mostAlike] = last
      ? { ...last, message: text, lastAtMs: atMs, count: last.count + 1 }
      : { ...said, ...fresh, message: text }
}

const reporters: Readonly<Partial<Record<string, Reporter>>> = {
  StatefulSet: 'statefulset-controller',
  DaemonSet: 'daemonset-controller',
  Job: 'job-controller',
}

/** Who creates the Pods of a kind; those of all other kinds are created by a ReplicaSet. */
export const creatorOf = (kind: string): Reporter => reporters[kind] ?? 'replicaset-controller'

function wordsOf({ kind, name }: { kind: string; name: string }, podName: string, refusal: string): EventWords {
  const message =
    kind === 'StatefulSet'
      ? `create Pod ${podName} in StatefulSet ${name} failed error: ${refusal}`
      : `Error creating: ${refusal}`
  return { type: 'Warning', reason: 'FailedCreate', message, by: creatorOf(kind) }
}
