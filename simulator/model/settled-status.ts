import type { Application, Operation } from './application.ts'
import { compareState } from './compare-state.ts'
import type { ManagedApplication } from './managed-application.ts'
import { automatedOperation, comparedToFor, operationRevisions, syncResultFor } from './sync-operation.ts'

/** The status of an application that was synced and became healthy at that time, before anybody looked. */
export function withSettledStatus(
  current: Application,
  managed: ManagedApplication,
  at: string,
  controllerNamespace: string,
): Application {
  const { target } = managed
  const comparison = compareState(target?.manifests, managed.observed, managed.cluster.list())
  const images = managed.cluster.images()
  const { source, sources } = comparedToFor(current)
  const revisions = target?.revisions ?? []
  const operation = automatedOperation(current, revisions)
  return {
    ...current,
    status: {
      ...current.status,
      resources: comparison.resources,
      sync: {
        status: comparison.syncStatus,
        comparedTo: comparedToFor(current),
        ...(sources ? { revisions } : { revision: revisions[0] ?? source.targetRevision ?? '' }),
      },
      health: { status: comparison.health, lastTransitionTime: at },
      history: target?.failure
        ? undefined
        : [
            {
              revision: sources ? undefined : revisions[0],
              deployedAt: at,
              id: 0,
              source,
              deployStartedAt: at,
              sources,
              revisions: sources ? revisions : undefined,
              initiatedBy: operation.initiatedBy,
            },
          ],
      conditions: target?.failure
        ? [{ type: 'ComparisonError', message: target.failure, lastTransitionTime: at }]
        : undefined,
      reconciledAt: at,
      operationState: target?.failure ? undefined : settledOperation(current, operation, managed, at),
      sourceType: sources ? undefined : target?.sourceTypes[0],
      summary: { images: images.length > 0 ? images : undefined },
      resourceHealthSource: 'appTree',
      sourceTypes: sources ? target?.sourceTypes : undefined,
      controllerNamespace,
    },
  }
}

function settledOperation(current: Application, operation: Operation, managed: ManagedApplication, at: string) {
  const resources = managed.cluster.list().map(({ manifest }) => ({
    group: manifest.group,
    version: manifest.version,
    kind: manifest.kind,
    namespace: manifest.namespace,
    name: manifest.name,
    status: 'Synced' as const,
    message: `${manifest.kind.toLowerCase()}${manifest.group === '' ? '' : `.${manifest.group}`}/${manifest.name} created`,
    hookPhase: 'Running' as const,
    syncPhase: 'Sync' as const,
    images: manifest.containers.length > 0 ? manifest.containers.map(({ image }) => image) : undefined,
  }))
  return {
    operation,
    phase: 'Succeeded' as const,
    message: 'successfully synced (all tasks run)',
    syncResult: syncResultFor(current, operationRevisions(operation), resources),
    startedAt: at,
    finishedAt: at,
  }
}
