import { type Application, keyOf } from '../model/application.ts'
import { withResourceHealth } from '../model/compare-state.ts'
import type { DeliveryController } from '../model/delivery-controller.ts'
import type { StoreEvent } from '../model/object-store.ts'
import type { Replica } from '../model/replica.ts'
import { isAllowed } from './accounts.ts'
import type { Call } from './call.ts'
import type { EventStream } from './event-stream.ts'
import { parseLabelSelector } from './label-selector.ts'

/** The RBAC object of an application: its namespace appears only outside the control-plane namespace. */
export function rbacObject({ metadata, spec }: Application, controlPlaneNamespace: string): string {
  const path = metadata.namespace === controlPlaneNamespace ? metadata.name : keyOf(metadata)
  return `${spec.project}/${path}`
}

/** The object as GET and the stream serve it: with the health of its resources, which is not stored. */
export function servedApplication(controller: DeliveryController, application: Application): Application {
  const managed = controller.managedAt(application.metadata)
  if (!managed || managed.uid !== application.metadata.uid) return application
  const resources = withResourceHealth(application.status.resources, managed.cluster.list())
  return { ...application, status: { ...application.status, resources } }
}

export function projectsOf(url: URL): readonly string[] {
  const project = url.searchParams.getAll('project')
  return project.length > 0 ? project : url.searchParams.getAll('projects')
}

export type StreamOptions = {
  controller: DeliveryController
  replica: Replica
  /** Subscribes some time after the initial burst, and answers how to stop that; what happens before is lost to this stream. */
  afterBurst: AfterBurst
}

export type AfterBurst = (subscribe: () => void) => () => void

/** Watches applications: a burst of what the cache holds, then live events only. Answers how to stop. */
export function watchApplications(call: Call, stream: EventStream, options: StreamOptions): () => void {
  const { url } = call
  const { controller, replica } = options
  const wants = eventFilter(call, controller)
  const lastByName = new Map<string, string>()

  function send(event: StoreEvent): void {
    if (!wants(event.application)) return
    const application = servedApplication(controller, event.application)
    const frame = stream.serialise({ result: { type: event.type, application } })
    if (lastByName.get(application.metadata.name) === frame) return
    lastByName.set(application.metadata.name, frame)
    stream.send(frame)
  }

  let unsubscribe: () => void = () => {}
  const subscribe = () => {
    unsubscribe = replica.subscribe(send)
  }
  const isBurst = !url.searchParams.get('resourceVersion') || url.searchParams.has('name')
  if (!isBurst) {
    subscribe()
    return () => unsubscribe()
  }
  for (const application of replica.list()) send({ type: 'ADDED', application })
  const cancel = options.afterBurst(subscribe)
  return () => {
    cancel()
    unsubscribe()
  }
}

function eventFilter({ url, account }: Call, controller: DeliveryController): (application: Application) => boolean {
  const name = url.searchParams.get('name')
  const namespace = url.searchParams.get('appNamespace') || controller.namespace
  const least = Number(url.searchParams.get('resourceVersion') || 0) || 0
  const projects = projectsOf(url)
  const matchesLabels = parseLabelSelector(
    url.searchParams.get('selector') ?? '',
    'error parsing labels with selectors',
  )
  return (application) => {
    const { metadata, spec } = application
    if (Number(metadata.resourceVersion) < least) return false
    if (name && (metadata.name !== name || metadata.namespace !== namespace)) return false
    if (projects.length > 0 && !projects.includes(spec.project)) return false
    if (!matchesLabels(metadata.labels ?? {})) return false
    return isAllowed(account, 'applications', 'get', rbacObject(application, controller.namespace))
  }
}
