import { hash } from 'node:crypto'
import type { Application } from '../model/application.ts'
import { kubernetesTime } from '../model/clock.ts'
import type { NotedEvent } from '../model/noted-event.ts'
import { combined } from '../model/refused-pods.ts'
import { type InvolvedObject, resourceEvents } from '../model/resource-events.ts'
import { type CallContext, readPermitted } from './application-calls.ts'
import type { Call } from './call.ts'

/** The events of an application or, where a resource is named, of that one, which only its own uid finds. */
export function readEvents(call: Call, context: CallContext): unknown {
  const application = readPermitted(call, context)
  const uid = call.url.searchParams.get('resourceUID')
  const items = uid ? eventsOfResource(application, uid, context) : eventsOfApplication(application, context)
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
  return noted.map(({ atMs, reason, message }, index) => {
    const time = kubernetesTime(atMs)
    return {
      metadata: { ...nameOf(involved, `${atMs * 1_000 + index}`), creationTimestamp: time, annotations },
      involvedObject: involved,
      reason,
      message,
      source: { component: 'argocd-application-controller' },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type: message.includes('failed') ? 'Warning' : 'Normal',
      eventTime: null,
    }
  })
}

function eventsOfResource({ metadata }: Application, uid: string, { controller }: CallContext): readonly unknown[] {
  const found = resourceEvents(controller.managedAt(metadata)?.cluster.list() ?? [], uid)
  return found?.events.flatMap((event) => renderEvent(event, found.involved)) ?? []
}

const nameOf = ({ namespace, name }: InvolvedObject, id: string) => ({
  name: `${name}.${hash('sha1', id).slice(0, 12)}`,
  namespace,
})

export function renderEvent(event: NotedEvent, involved: InvolvedObject): readonly unknown[] {
  return event.action ? scheduling(event, involved) : [counted(event, involved)]
}

/** The form of the kubelet and of the controllers: a count, and the times of the first and the last. */
function counted({ type, reason, message, by, fieldPath, ...event }: NotedEvent, involved: InvolvedObject): unknown {
  const isKubelet = by === 'kubelet'
  return {
    metadata: { ...nameOf(involved, `${reason}${message}`), creationTimestamp: kubernetesTime(event.firstAtMs) },
    involvedObject: { ...involved, fieldPath },
    reason,
    message,
    source: { component: by, host: isKubelet ? 'fake-node-1' : undefined },
    firstTimestamp: kubernetesTime(event.firstAtMs),
    lastTimestamp: kubernetesTime(event.lastAtMs),
    count: event.count,
    type,
    eventTime: null,
    reportingComponent: message.startsWith(combined) ? undefined : by,
    reportingInstance: isKubelet ? 'fake-node-1' : undefined,
  }
}

/** The scheduler's form: neither counts nor old timestamps, and a second event with a series once it is said again. */
function scheduling(event: NotedEvent, involved: InvolvedObject): readonly unknown[] {
  const { type, reason, message, by, action, count } = event
  const at = (atMs: number, series?: unknown) => ({
    metadata: { ...nameOf(involved, `${reason}${message}${series ? 2 : 1}`), creationTimestamp: kubernetesTime(atMs) },
    involvedObject: involved,
    reason,
    message,
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    type,
    eventTime: microTime(atMs),
    series,
    action,
    reportingComponent: by,
    reportingInstance: `${by}-vm`,
  })
  const again = { count, lastObservedTime: microTime(event.lastAtMs) }
  return count === 1 ? [at(event.firstAtMs)] : [at(event.firstAtMs), at(event.lastAtMs, again)]
}

const microTime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')
