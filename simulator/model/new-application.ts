import { type ApplicationSpec, emptyStatus, resourcesFinalizer } from './application.ts'

export type NewApplicationSpec = {
  name: string
  namespace?: string
  project?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  /** One or several; several make a multi-source application; none where `sourceHydrator` says what is synced. */
  sources: NonNullable<ApplicationSpec['sources']>
  sourceHydrator?: ApplicationSpec['sourceHydrator']
  destinationNamespace?: string
  syncPolicy?: ApplicationSpec['syncPolicy']
  hasFinalizer?: boolean
  /** `settled` (the default): has been running for long. `empty`: just created, the controller starts from nothing. */
  start?: 'settled' | 'empty'
}

const defaultSyncPolicy: ApplicationSpec['syncPolicy'] = {
  automated: { prune: true, selfHeal: true },
  syncOptions: ['CreateNamespace=true'],
}

/** What a person would apply for it. */
export function newApplication(wanted: NewApplicationSpec, controlPlaneNamespace: string) {
  const { name, sources } = wanted
  const [only] = sources
  const isSingle = sources.length === 1
  return {
    metadata: {
      name,
      namespace: wanted.namespace ?? controlPlaneNamespace,
      labels: wanted.labels,
      annotations: wanted.annotations,
      finalizers: wanted.hasFinalizer === false ? undefined : [resourcesFinalizer],
    },
    spec: {
      source: isSingle ? only : undefined,
      destination: { server: 'https://kubernetes.default.svc', namespace: wanted.destinationNamespace ?? name },
      project: wanted.project ?? 'default',
      syncPolicy: wanted.syncPolicy ?? defaultSyncPolicy,
      sources: sources.length > 1 ? sources : undefined,
      sourceHydrator: wanted.sourceHydrator,
    },
    status: emptyStatus,
  }
}
