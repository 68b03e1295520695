import type {
  ObservedApplication,
  ObservedHydration,
  ObservedOperation,
  ObservedResource,
} from '../../rollout/observed/observed-application.ts'
import type { ApplicationSource } from '../../write-back/plan/application-source.ts'
import {
  cleanText,
  hasObject,
  isTrueAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
  timeAt,
} from './untrusted-json.ts'

/**
 * Reads an Application object from a stream event, a GET or an item of a List.
 * Returns `undefined` when it has no name, namespace and uid: such a thing says nothing about any application.
 */
export function parseApplication(raw: unknown): ObservedApplication | undefined {
  const metadata = objectAt(raw, 'metadata')
  const name = textAt(metadata, 'name')
  const namespace = textAt(metadata, 'namespace')
  const uid = textAt(metadata, 'uid')
  if (name === undefined || namespace === undefined || uid === undefined) return undefined
  const spec = readSpec(raw)
  const sourceTypes = readSourceTypes(raw, spec)
  return Object.freeze({ name, namespace, uid, ...readMetadata(metadata), ...spec, sourceTypes, ...readStatus(raw) })
}

function readMetadata(metadata: unknown) {
  const annotations = new Map<string, string>()
  for (const [key, value] of Object.entries(objectAt(metadata, 'annotations'))) {
    // Can hold the whole manifest once more and is of no use here.
    if (typeof value === 'string' && key !== 'kubectl.kubernetes.io/last-applied-configuration')
      annotations.set(cleanText(key), cleanText(value))
  }
  return {
    version: parseVersion(textAt(metadata, 'resourceVersion')),
    annotations,
    isDeleting: textAt(metadata, 'deletionTimestamp') !== undefined,
    isRefreshPending: annotations.has('argocd.argoproj.io/refresh'),
  }
}

function parseVersion(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** The hydrator's own source comes before several sources, and those before the single one. */
function readSpec(raw: unknown) {
  const spec = objectAt(raw, 'spec')
  const syncPolicy = objectAt(spec, 'syncPolicy')
  const automated = objectAt(syncPolicy, 'automated')
  const isHydrated = hasObject(objectAt(spec, 'sourceHydrator'), 'drySource')
  const several = listAt(spec, 'sources').map(readSource)
  const isMultiSource = !isHydrated && several.length > 0
  const single = isHydrated ? readDrySource(spec) : readSource(objectAt(spec, 'source'))
  return {
    project: textAt(spec, 'project') ?? '',
    isHydrated,
    isMultiSource,
    sources: isMultiSource ? several : single.repository === '' ? [] : [single],
    isAutoSynced: hasObject(syncPolicy, 'automated') && automated.enabled !== false,
    isSelfHealed: isTrueAt(automated, 'selfHeal'),
    isOperationRequested: hasObject(raw, 'operation'),
  }
}

/** Where the commits of a hydrated application go: its dry source. */
function readDrySource(spec: unknown): ApplicationSource {
  return readSource(objectAt(objectAt(spec, 'sourceHydrator'), 'drySource'))
}

function readSource(source: unknown): ApplicationSource {
  const helm = objectAt(source, 'helm')
  return {
    repository: textAt(source, 'repoURL') ?? '',
    targetRevision: textAt(source, 'targetRevision') ?? '',
    path: textAt(source, 'path') ?? '',
    chart: textAt(source, 'chart'),
    ref: textAt(source, 'ref'),
    helmParameters: listAt(helm, 'parameters').map((parameter) => ({
      name: textAt(parameter, 'name') ?? '',
      value: textAt(parameter, 'value') ?? '',
      forceString: isTrueAt(parameter, 'forceString'),
    })),
    helmValueFiles: textsAt(helm, 'valueFiles'),
    helmInlineValues: { object: objectAt(helm, 'valuesObject'), text: textAt(helm, 'values') ?? '' },
    kustomizeImages: textsAt(objectAt(source, 'kustomize'), 'images'),
  }
}

function readStatus(raw: unknown) {
  const status = objectAt(raw, 'status')
  const sync = objectAt(status, 'sync')
  const health = objectAt(status, 'health')
  return {
    controllerNamespace: textAt(status, 'controllerNamespace'),
    syncStatus: textAt(sync, 'status'),
    revisions: readRevisions(sync),
    healthStatus: textAt(health, 'status'),
    healthMessage: textAt(health, 'message'),
    images: textsAt(objectAt(status, 'summary'), 'images'),
    externalUrl: textsAt(objectAt(status, 'summary'), 'externalURLs').find(isWebAddress),
    resources: listAt(status, 'resources').map(readResource),
    conditions: listAt(status, 'conditions').map((condition) => ({
      type: textAt(condition, 'type') ?? '',
      message: textAt(condition, 'message') ?? '',
      sinceMs: timeAt(condition, 'lastTransitionTime'),
    })),
    reconciledAtMs: timeAt(status, 'reconciledAt'),
    operation: hasObject(status, 'operationState') ? readOperation(objectAt(status, 'operationState')) : undefined,
    hydration: readHydration(objectAt(status, 'sourceHydrator')),
  }
}

/** Of a hydrated application they are about the manifests that came out, not about the dry source. */
function readSourceTypes(raw: unknown, { isHydrated, isMultiSource, sources }: ReturnType<typeof readSpec>) {
  const status = objectAt(raw, 'status')
  if (isHydrated) return []
  if (!isMultiSource) return [textAt(status, 'sourceType') ?? '']
  const types = listAt(status, 'sourceTypes').map((type) => (typeof type === 'string' ? cleanText(type) : ''))
  return types.length === sources.length ? types : []
}

const maxUrlLength = 1_000

/** One that may be shown as a link. */
function isWebAddress(text: string): boolean {
  const address = URL.parse(text)
  return (
    address !== null && /^https?:$/.test(address.protocol) && address.username === '' && text.length <= maxUrlLength
  )
}

/** `revisions` of a multi-source application, else the single `revision`. */
function readRevisions(value: unknown): readonly string[] {
  const several = listAt(value, 'revisions').map((revision) =>
    typeof revision === 'string' ? cleanText(revision) : '',
  )
  const single = textAt(value, 'revision')
  return several.length > 0 ? several : single === undefined ? [] : [single]
}

function readResource(resource: unknown): ObservedResource {
  const health = objectAt(resource, 'health')
  return {
    ...readIdentity(resource),
    group: textAt(resource, 'group') ?? '',
    syncStatus: textAt(resource, 'status'),
    health: textAt(health, 'status'),
    healthMessage: textAt(health, 'message'),
    isHook: isTrueAt(resource, 'hook'),
    requiresPruning: isTrueAt(resource, 'requiresPruning'),
  }
}

function readIdentity(resource: unknown) {
  return {
    kind: textAt(resource, 'kind') ?? '',
    namespace: textAt(resource, 'namespace') ?? '',
    name: textAt(resource, 'name') ?? '',
  }
}

function readOperation(state: unknown): ObservedOperation {
  const asked = objectAt(objectAt(state, 'operation'), 'sync')
  const result = objectAt(state, 'syncResult')
  const applied = readRevisions(result)
  return {
    phase: textAt(state, 'phase'),
    message: textAt(state, 'message'),
    retries: numberAt(state, 'retryCount') ?? 0,
    startedAtMs: timeAt(state, 'startedAt'),
    finishedAtMs: timeAt(state, 'finishedAt'),
    isDryRun: isTrueAt(asked, 'dryRun'),
    revisions: applied.length > 0 ? applied : readRevisions(asked),
    resources: listAt(result, 'resources').map((resource) => ({
      ...readIdentity(resource),
      status: textAt(resource, 'status'),
      message: textAt(resource, 'message'),
      hookType: textAt(resource, 'hookType'),
      hookPhase: textAt(resource, 'hookPhase'),
      images: textsAt(resource, 'images'),
    })),
  }
}

function readHydration(hydrator: unknown): ObservedHydration {
  const current = objectAt(hydrator, 'currentOperation')
  const last = objectAt(hydrator, 'lastSuccessfulOperation')
  const phase = textAt(current, 'phase')
  return {
    isRunning: phase === 'Hydrating',
    failure: phase === 'Failed' ? (textAt(current, 'message') ?? 'no message') : undefined,
    lastDryRevision: textAt(last, 'drySHA'),
    lastHydratedRevision: textAt(last, 'hydratedSHA'),
    lastComparedDryRevision: textAt(hydrator, 'lastComparedDryRevision'),
  }
}
