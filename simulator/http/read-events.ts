import type { Application } from '../model/application.ts'
import { kubernetesTime } from '../model/clock.ts'
import { podEvents } from '../model/pod-events.ts'
import { type CallContext, readPermitted } from './application-calls.ts'
import type { Call } from './call.ts'

type Noted = {
  readonly atMs: number
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}
type InvolvedObject = {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
  readonly apiVersion: string
}

/** The events of an application or, where a resource is named, of that one, which only its own uid finds. */
export function readEvents(call: Call, context: CallContext): unknown {
  const application = readPermitted(call, context)
  const uid = call.url.searchParams.get('resourceUID')
  const items = uid ? eventsOfPod(application, uid, context) : eventsOfApplication(application, context)
  return {
    metadata: { resourceVersion: context.controller.store.resourceVersion() },
    items: items.length > 0 ? items : null,
  }
}

function eventsOfApplication({ metadata, spec }: Application, { controller }: CallContext): readonly unknown[] {
  const involved = {
    kind: 'Application',
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    apiVersion: 'argoproj.io/v1alpha1',
  }
  const annotations = { 'dest-namespace': spec.destination.namespace, 'dest-server': spec.destination.server }
  const noted = controller.managedAt(metadata)?.events ?? []
  return noted.map(({ atMs, reason, message }, index) =>
    renderEvent(
      { atMs, reason, message, type: message.includes('failed') ? 'Warning' : 'Normal' },
      index,
      involved,
      'argocd-application-controller',
      annotations,
    ),
  )
}

function eventsOfPod({ metadata, spec }: Application, uid: string, { controller }: CallContext): readonly unknown[] {
  const workloads = controller.managedAt(metadata)?.cluster.list() ?? []
  const pod = workloads.flatMap(({ pods }) => pods).find((one) => one.uid === uid)
  if (pod === undefined) return []
  const involved = { kind: 'Pod', namespace: spec.destination.namespace, name: pod.name, uid, apiVersion: 'v1' }
  return podEvents(pod).map((event, index) =>
    renderEvent({ ...event, atMs: pod.createdAt }, index, involved, 'kubelet'),
  )
}

function renderEvent(
  { atMs, type, reason, message }: Noted,
  index: number,
  involvedObject: InvolvedObject,
  component: string,
  annotations?: Readonly<Record<string, string | undefined>>,
): unknown {
  const time = kubernetesTime(atMs)
  const { namespace, name } = involvedObject
  const id = `${name}.${(atMs * 1_000 + index).toString(16)}`
  return {
    metadata: { name: id, namespace, creationTimestamp: time, ...(annotations && { annotations }) },
    involvedObject,
    reason,
    message,
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type,
    eventTime: null,
  }
}
