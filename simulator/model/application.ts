/** The `Application` object as the controller stores and serves it. `undefined` members are left out of the JSON. */
export type Application = {
  metadata: ApplicationMetadata
  spec: ApplicationSpec
  status: ApplicationStatus
  operation?: Operation | undefined
}

type ApplicationMetadata = {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  generation: number
  creationTimestamp: string
  deletionTimestamp?: string | undefined
  deletionGracePeriodSeconds?: number | undefined
  labels?: Record<string, string> | undefined
  annotations?: Record<string, string> | undefined
  finalizers?: readonly string[] | undefined
}

export type HelmParameter = { name?: string | undefined; value?: string | undefined; forceString?: boolean | undefined }

export type Source = {
  repoURL: string
  path?: string | undefined
  targetRevision?: string | undefined
  helm?:
    | {
        valueFiles?: readonly string[] | undefined
        parameters?: readonly HelmParameter[] | undefined
        values?: string | undefined
        ignoreMissingValueFiles?: boolean | undefined
      }
    | undefined
  kustomize?: { images?: readonly string[] | undefined } | undefined
  directory?: Record<string, unknown> | undefined
  plugin?: Record<string, unknown> | undefined
  chart?: string | undefined
  ref?: string | undefined
  name?: string | undefined
}

type RetryPolicy = {
  limit?: number | undefined
  backoff?: { duration?: string | undefined; factor?: number | undefined; maxDuration?: string | undefined } | undefined
}

type SyncPolicy = {
  automated?: { prune?: boolean | undefined; selfHeal?: boolean | undefined; enabled?: boolean | undefined } | undefined
  syncOptions?: readonly string[] | undefined
  retry?: RetryPolicy | undefined
}

type Destination = { server?: string | undefined; namespace?: string | undefined }

/** Where the hydrator reads and where it writes; what is synced is what it wrote. */
type SourceHydrator = { drySource: Source; syncSource: { targetBranch: string; path: string } }

/** What the hydrator has done. `drySHA` was rendered, `hydratedSHA` is the commit that holds the result. */
export type Hydration = {
  currentOperation?:
    | {
        sourceHydrator?: SourceHydrator | undefined
        phase: 'Hydrating' | 'Hydrated' | 'Failed'
        message?: string | undefined
        drySHA?: string | undefined
        hydratedSHA?: string | undefined
        startedAt: string
        finishedAt?: string | undefined
      }
    | undefined
  lastSuccessfulOperation?:
    | { drySHA: string; hydratedSHA: string; sourceHydrator?: SourceHydrator | undefined }
    | undefined
  lastComparedDryRevision?: string | undefined
}

export type ApplicationSpec = {
  source?: Source | undefined
  sourceHydrator?: SourceHydrator | undefined
  destination: Destination
  project: string
  syncPolicy?: SyncPolicy | undefined
  sources?: readonly Source[] | undefined
}

export type SyncStatusCode = 'Synced' | 'OutOfSync' | 'Unknown' | ''
export type HealthCode = 'Healthy' | 'Suspended' | 'Progressing' | 'Missing' | 'Degraded' | 'Unknown'
export type Health = { status: HealthCode; message?: string | undefined }

export type ResourceStatus = {
  group?: string | undefined
  version: string
  kind: string
  namespace: string
  name: string
  status?: SyncStatusCode | undefined
  health?: Health | undefined
  hook?: boolean | undefined
  requiresPruning?: boolean | undefined
  syncWave?: number | undefined
}

export type Operation = {
  sync: {
    revision?: string | undefined
    prune?: boolean | undefined
    dryRun?: boolean | undefined
    resources?: readonly { group?: string | undefined; kind: string; name: string }[] | undefined
    source?: Source | undefined
    syncOptions?: readonly string[] | undefined
    sources?: readonly Source[] | undefined
    revisions?: readonly string[] | undefined
    autoHealAttemptsCount?: number | undefined
  }
  initiatedBy: { username?: string | undefined; automated?: boolean | undefined }
  retry: RetryPolicy
}

export type ResourceResult = {
  group: string
  version: string
  kind: string
  namespace: string
  name: string
  status: 'Synced' | 'SyncFailed'
  message: string
  hookType?: string | undefined
  hookPhase: 'Running' | 'Succeeded' | 'Failed'
  syncPhase: 'PreSync' | 'Sync' | 'PostSync'
  images?: readonly string[] | undefined
}

export type SyncResult = {
  resources?: readonly ResourceResult[] | undefined
  revision: string
  source: Source
  sources?: readonly Source[] | undefined
  revisions?: readonly string[] | undefined
}

export type OperationState = {
  operation: Operation
  phase: 'Running' | 'Terminating' | 'Succeeded' | 'Failed' | 'Error'
  message?: string | undefined
  syncResult?: SyncResult | undefined
  startedAt: string
  finishedAt?: string | undefined
  retryCount?: number | undefined
}

export type Condition = { type: string; message: string; lastTransitionTime: string }

type HistoryEntry = {
  revision?: string | undefined
  deployedAt: string
  id: number
  source: Source
  deployStartedAt: string
  sources?: readonly Source[] | undefined
  revisions?: readonly string[] | undefined
  initiatedBy: { username?: string | undefined; automated?: boolean | undefined }
}

export type ComparedTo = { source: Source; destination: Destination; sources?: readonly Source[] | undefined }

export type ApplicationStatus = {
  resources?: readonly ResourceStatus[] | undefined
  sync: {
    status: SyncStatusCode
    comparedTo: ComparedTo
    revision?: string | undefined
    revisions?: readonly string[] | undefined
  }
  health: { status?: HealthCode | undefined; lastTransitionTime?: string | undefined }
  history?: readonly HistoryEntry[] | undefined
  conditions?: readonly Condition[] | undefined
  reconciledAt?: string | undefined
  operationState?: OperationState | undefined
  sourceType?: string | undefined
  summary: { images?: readonly string[] | undefined; externalURLs?: readonly string[] | undefined }
  resourceHealthSource?: 'appTree' | undefined
  sourceTypes?: readonly string[] | undefined
  controllerNamespace?: string | undefined
  sourceHydrator: Hydration
}

export const refreshAnnotation = 'argocd.argoproj.io/refresh'
export const hydrateAnnotation = 'argocd.argoproj.io/hydrate'
export const generatePathsAnnotation = 'argocd.argoproj.io/manifest-generate-paths'
export const resourcesFinalizer = 'resources-finalizer.argocd.argoproj.io'

export type ApplicationKey = { namespace: string; name: string }

export function keyOf({ namespace, name }: ApplicationKey): string {
  return `${namespace}/${name}`
}

export function isMultiSource(spec: ApplicationSpec): boolean {
  return spec.sourceHydrator === undefined && (spec.sources?.length ?? 0) > 0
}

/** What is compared and synced: of a hydrated application what the hydrator wrote. */
export function sourcesOf(spec: ApplicationSpec): readonly Source[] {
  if (spec.sourceHydrator) {
    const { drySource, syncSource } = spec.sourceHydrator
    return [{ repoURL: drySource.repoURL, targetRevision: syncSource.targetBranch, path: syncSource.path }]
  }
  if (spec.sources && spec.sources.length > 0) return spec.sources
  return spec.source ? [spec.source] : []
}

/** The status of an object that no controller has seen yet. */
export const emptyStatus: ApplicationStatus = {
  sync: { status: '', comparedTo: { source: { repoURL: '' }, destination: {} } },
  health: {},
  summary: {},
  sourceHydrator: {},
}

/** The object with its members in the order in which the real server writes them. */
export function inFieldOrder({ metadata, spec, status, operation }: Application): Application {
  return {
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      generation: metadata.generation,
      creationTimestamp: metadata.creationTimestamp,
      deletionTimestamp: metadata.deletionTimestamp,
      deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds,
      labels: metadata.labels,
      annotations: metadata.annotations && sortedByName(metadata.annotations),
      finalizers: metadata.finalizers,
    },
    spec: {
      source: spec.source,
      destination: spec.destination,
      project: spec.project,
      syncPolicy: spec.syncPolicy,
      sources: spec.sources,
      sourceHydrator: spec.sourceHydrator,
    },
    status: {
      resources: status.resources,
      sync: status.sync,
      health: status.health,
      history: status.history,
      conditions: status.conditions,
      reconciledAt: status.reconciledAt,
      operationState: status.operationState,
      sourceType: status.sourceType,
      summary: status.summary,
      resourceHealthSource: status.resourceHealthSource,
      sourceTypes: status.sourceTypes,
      controllerNamespace: status.controllerNamespace,
      sourceHydrator: status.sourceHydrator,
    },
    operation,
  }
}

function sortedByName(entries: Record<string, string>): Record<string, string> | undefined {
  const names = Object.keys(entries).sort()
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, entries[name] ?? '']))
}
