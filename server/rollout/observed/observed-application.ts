import type { ApplicationSource } from '../../write-back/plan/application-source.ts'

export type ObservedResource = {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly syncStatus: string | undefined
  readonly health: string | undefined
  readonly healthMessage: string | undefined
  readonly isHook: boolean
  readonly requiresPruning: boolean
}

/** What a sync did with one resource. `hookPhase` says something about hooks only: plain resources keep `Running` after success. */
export type OperationResource = {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly status: string | undefined
  readonly message: string | undefined
  readonly hookType: string | undefined
  readonly hookPhase: string | undefined
  readonly images: readonly string[]
}

export type ObservedOperation = {
  readonly phase: string | undefined
  readonly message: string | undefined
  /** How often a failed attempt has been repeated so far. */
  readonly retries?: number
  readonly startedAtMs: number | undefined
  readonly finishedAtMs: number | undefined
  readonly isDryRun: boolean
  /** What it applied, or what it was asked to apply while there is no result. */
  readonly revisions: readonly string[]
  readonly resources: readonly OperationResource[]
}

export type ObservedHydration = {
  readonly isRunning: boolean
  readonly failure: string | undefined
  readonly lastDryRevision: string | undefined
  readonly lastHydratedRevision: string | undefined
  readonly lastComparedDryRevision: string | undefined
}

/** `sinceMs`: since when Argo CD has reported it with this text, without a break; on its clock. */
export type ObservedCondition = {
  readonly type: string
  readonly message: string
  readonly sinceMs: number | undefined
}

/** One state of an application as the delivery controller reported it. Frozen; unknown things are `undefined` or empty. */
export type ObservedApplication = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  /** `metadata.resourceVersion` as a number; 0 if it is not a number. */
  readonly version: number
  readonly controllerNamespace: string | undefined
  readonly project: string
  readonly annotations: ReadonlyMap<string, string>
  readonly isDeleting: boolean
  /** A refresh was asked and is not yet answered. */
  readonly isRefreshPending: boolean
  readonly sources: readonly ApplicationSource[]
  readonly isMultiSource: boolean
  /** In the order of `sources`; empty where the last comparison does not tell. */
  readonly sourceTypes: readonly string[]
  readonly isHydrated: boolean
  readonly isAutoSynced: boolean
  readonly isSelfHealed: boolean
  readonly isOperationRequested: boolean
  readonly syncStatus: string | undefined
  readonly revisions: readonly string[]
  readonly healthStatus: string | undefined
  readonly healthMessage: string | undefined
  readonly images: readonly string[]
  /** The first http(s) address of `status.summary.externalURLs`, which Argo CD reads from Ingresses and annotations. */
  readonly externalUrl: string | undefined
  readonly resources: readonly ObservedResource[]
  readonly conditions: readonly ObservedCondition[]
  readonly reconciledAtMs: number | undefined
  readonly operation: ObservedOperation | undefined
  readonly hydration: ObservedHydration
}

/** Images in the manifests that the last operation applied. Reported by Argo CD 3.1 and newer. */
export function appliedImages({ operation }: ObservedApplication): readonly string[] {
  return operation === undefined || operation.isDryRun ? [] : operation.resources.flatMap(({ images }) => images)
}

/** Whether the last operation synced every resource; one that corrects a drift only syncs what drifted. */
export function isFullSync({ operation, resources }: ObservedApplication): boolean {
  if (operation?.phase !== 'Succeeded' || operation.isDryRun) return false
  const expected = resources.filter((resource) => !resource.isHook && !resource.requiresPruning).length
  return operation.resources.filter(({ hookType }) => hookType === undefined).length >= expected
}

/** Whether the last operation applied the revision of the last comparison; a later comparison may have had nothing to do. */
export const appliedComparedRevision = ({ operation, revisions }: ObservedApplication) =>
  operation?.revisions.join() === revisions.join()

/** Requested, running, or waiting for its next attempt (phase Running with an end time). A dry run changes nothing. */
export function isOperationActive({ isOperationRequested, operation }: ObservedApplication): boolean {
  if (operation?.isDryRun === true && operation.phase !== undefined) return false
  return isOperationRequested || operation?.phase === 'Running' || operation?.phase === 'Terminating'
}

export function hasOperationFailed({ operation }: ObservedApplication): boolean {
  return operation !== undefined && !operation.isDryRun && (operation.phase === 'Failed' || operation.phase === 'Error')
}

/** A failed hook has the status Synced; plain resources keep a phase that says nothing. */
export function isFailedHook({ hookType, hookPhase }: OperationResource): boolean {
  return hookType !== undefined && (hookPhase === 'Failed' || hookPhase === 'Error')
}

/** Why automated sync has given up. */
export const syncErrorOf = ({ conditions }: ObservedApplication): string | undefined =>
  conditions.find(({ type }) => type === 'SyncError')?.message
