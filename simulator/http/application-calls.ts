import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Application,
  type ApplicationKey,
  isMultiSource,
  keyOf,
  refreshAnnotation,
  sourcesOf,
} from '../model/application.ts'
import type { Clock } from '../model/clock.ts'
import { kubernetesTime } from '../model/clock.ts'
import type { DeliveryController } from '../model/delivery-controller.ts'
import { renderManagedResources } from '../model/render-managed-resources.ts'
import { renderResourceTree } from '../model/render-resource-tree.ts'
import type { Replica } from '../model/replica.ts'
import { blocksManualSync } from '../model/sync-window.ts'
import { isAllowed } from './accounts.ts'
import { ApiError, applicationNotFound, deadlineExceeded, permissionDenied } from './api-error.ts'
import { projectsOf, rbacObject, servedApplication } from './application-stream.ts'
import type { Call } from './call.ts'
import { parseLabelSelector } from './label-selector.ts'
import { selectListFields } from './select-fields.ts'

export type CallContext = { controller: DeliveryController; clock: Clock; replica: Replica }

function keyIn({ url, application }: Call, controller: DeliveryController): ApplicationKey {
  return { name: application ?? '', namespace: url.searchParams.get('appNamespace') || controller.namespace }
}

/**
 * The application a call is about. Without `project` everything that is in the way is "permission denied";
 * with it, a caller who may read in that project learns that there is no such application.
 */
export function readPermitted(call: Call, { controller }: CallContext, action = 'get'): Application {
  const projects = projectsOf(call.url)
  if (projects.length > 1) {
    throw new ApiError(3, 'multiple projects specified - the get endpoint accepts either zero or one project')
  }
  const [project] = projects
  const key = keyIn(call, controller)
  const path = key.namespace === controller.namespace ? key.name : keyOf(key)
  if (project !== undefined && !isAllowed(call.account, 'applications', 'get', `${project}/${path}`))
    throw permissionDenied()
  const application = controller.store.get(key)
  const isReadable =
    application && isAllowed(call.account, 'applications', 'get', rbacObject(application, controller.namespace))
  if (!isReadable || (project !== undefined && application.spec.project !== project)) {
    throw project === undefined ? permissionDenied() : applicationNotFound(key.name)
  }
  if (
    action !== 'get' &&
    !isAllowed(call.account, 'applications', action, rbacObject(application, controller.namespace))
  ) {
    throw permissionDenied()
  }
  return application
}

export async function getApplication(call: Call, context: CallContext): Promise<Application> {
  const application = readPermitted(call, context)
  const refresh = call.url.searchParams.get('refresh')
  if (refresh === null || refresh === '') return servedApplication(context.controller, application)
  return servedApplication(
    context.controller,
    await refreshed(call, context, application, refresh === 'hard' ? 'hard' : 'normal'),
  )
}

/** Asks for a refresh and waits for the first event without the annotation; the refresh goes on if the caller gives up. */
function refreshed(
  { signal }: Call,
  { controller, replica }: CallContext,
  { metadata }: Application,
  kind: 'normal' | 'hard',
): Promise<Application> {
  return new Promise((resolve, reject) => {
    const annotated = controller.annotateRefresh(metadata, kind)
    const stop = replica.subscribe(({ application, type }) => {
      if (application.metadata.uid !== metadata.uid) return
      const isNewer = Number(application.metadata.resourceVersion) > Number(annotated?.metadata.resourceVersion ?? 0)
      if (type !== 'DELETED' && (!isNewer || application.metadata.annotations?.[refreshAnnotation])) return
      settle(() => resolve(application))
    })
    const giveUp = () => settle(() => reject(deadlineExceeded()))
    const settle = (how: () => void) => {
      stop()
      signal.removeEventListener('abort', giveUp)
      how()
    }
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp)
  })
}

export function listApplications({ url, account }: Call, { controller, replica }: CallContext): unknown {
  const { searchParams } = url
  const name = searchParams.get('name')
  const namespace = searchParams.get('appNamespace')
  const repository = searchParams.get('repo')
  const projects = projectsOf(url)
  const matchesLabels = parseLabelSelector(searchParams.get('selector') ?? '', 'error parsing the selector')
  const items = replica
    .list()
    .filter(
      (application) =>
        (!name || application.metadata.name === name) &&
        (!namespace || application.metadata.namespace === namespace) &&
        (!repository || sourcesOf(application.spec)[0]?.repoURL === repository) &&
        (projects.length === 0 || projects.includes(application.spec.project)) &&
        matchesLabels(application.metadata.labels ?? {}) &&
        isAllowed(account, 'applications', 'get', rbacObject(application, controller.namespace)),
    )
  const found = name ? items.slice(0, 1) : items
  const list = { metadata: { resourceVersion: replica.resourceVersion() }, items: found.length > 0 ? found : null }
  const fields = searchParams.get('fields')
  return fields ? selectListFields(list, fields) : list
}

export function getResourceTree(call: Call, context: CallContext): unknown {
  const application = readPermitted(call, context)
  return renderResourceTree(context.controller.managedAt(application.metadata)?.cluster.list() ?? [])
}

export function getManagedResources(call: Call, context: CallContext): unknown {
  const application = readPermitted(call, context)
  const managed = context.controller.managedAt(application.metadata)
  const targets = managed?.target?.manifests ?? managed?.cluster.list().map(({ manifest }) => manifest) ?? []
  const items = renderManagedResources(application.metadata.name, targets, managed?.cluster.list() ?? [])
  const { searchParams } = call.url
  const wanted = ['group', 'kind', 'namespace', 'name'] as const
  return {
    items: items.filter((item) =>
      wanted.every((member) => !searchParams.get(member) || item[member] === searchParams.get(member)),
    ),
  }
}

export function getSyncWindows(call: Call, context: CallContext): unknown {
  const { spec } = readPermitted(call, context)
  const windows = context.controller.windowsOf(spec.project)
  const shown = (list: typeof windows) =>
    list.length > 0
      ? list.map(({ kind, schedule, duration, manualSync }) => ({ kind, schedule, duration, manualSync }))
      : undefined
  return {
    activeWindows: shown(windows.filter(({ isActive }) => isActive)),
    assignedWindows: shown(windows),
    canSync: !blocksManualSync(windows),
  }
}

type SyncBody = { revision?: string; revisions?: string[]; prune?: boolean; dryRun?: boolean }

function parseSyncBody(text: string): SyncBody {
  let body: unknown
  try {
    body = JSON.parse(text || '{}')
  } catch (cause) {
    throw Object.assign(new ApiError(3, 'unexpected EOF'), { cause })
  }
  if (typeof body !== 'object' || body === null) throw new ApiError(3, 'json: cannot unmarshal value into Go value')
  for (const member of ['prune', 'dryRun']) {
    const value: unknown = Reflect.get(body, member)
    if (value === undefined || typeof value === 'boolean') continue
    const message = `json: cannot unmarshal ${typeof value} into Go struct field ApplicationSyncRequest.${member} of type bool`
    throw new ApiError(3, message)
  }
  return body
}

export async function syncApplication(call: Call, context: CallContext): Promise<Application> {
  const body = parseSyncBody(call.body)
  const application = readPermitted(call, context)
  const { controller } = context
  const object = rbacObject(application, controller.namespace)
  const { account } = call
  if (!isAllowed(account, 'applications', 'sync', object)) {
    const who = `sub: ${account.name}, iat: ${kubernetesTime(account.issuedAtMs)}`
    throw new ApiError(7, `permission denied: applications, sync, ${object}, ${who}`)
  }
  if (blocksManualSync(controller.windowsOf(application.spec.project))) {
    throw new ApiError(7, 'cannot sync: blocked by sync window')
  }
  if (application.metadata.deletionTimestamp) throw new ApiError(9, 'application is deleting')
  const tracked = application.spec.source?.targetRevision ?? ''
  if (application.spec.syncPolicy?.automated && body.revision && body.revision !== tracked) {
    throw new ApiError(9, `Cannot sync to ${body.revision}: auto-sync currently set to ${tracked}`)
  }
  const revisions = await requestedRevisions(controller, application, body)
  if (controller.store.get(application.metadata)?.operation)
    throw new ApiError(9, 'another operation is already in progress')
  const request = { username: account.name, revisions, prune: body.prune ?? false, dryRun: body.dryRun ?? false }
  return controller.requestSync(application.metadata, request) ?? application
}

async function requestedRevisions(
  controller: DeliveryController,
  { spec }: Application,
  body: SyncBody,
): Promise<readonly string[]> {
  const wanted =
    !isMultiSource(spec) && spec.source && body.revision
      ? { ...spec, source: { ...spec.source, targetRevision: body.revision } }
      : spec
  const resolved = await controller.resolve(wanted)
  if (resolved.kind === 'revisions') return resolved.revisions
  const reason = resolved.message.replace('Failed to load target state: ', '')
  throw new ApiError(9, `error resolving repo revision: ${reason}`)
}

export function terminateOperation(call: Call, context: CallContext): unknown {
  const application = readPermitted(call, context, 'sync')
  if (context.controller.terminate(application.metadata)) return {}
  throw new ApiError(3, 'Unable to terminate operation. No operation is in progress')
}

export function rollbackApplication(call: Call, context: CallContext): unknown {
  const application = readPermitted(call, context, 'sync')
  if (application.spec.syncPolicy?.automated) {
    throw new ApiError(9, 'rollback cannot be initiated when auto-sync is enabled')
  }
  const { id } = JSON.parse(call.body || '{}')
  const entry = application.status.history?.find((known) => known.id === id)
  if (!entry) throw new ApiError(9, `application ${application.metadata.name} does not have deployment with id ${id}`)
  const revisions = entry.revisions ?? [entry.revision ?? '']
  const request = { username: call.account.name, revisions, prune: false, dryRun: false }
  return context.controller.requestSync(application.metadata, request) ?? application
}

/** Waits, or less if the caller gives up. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
