import type { Culprit } from '../../../contract/diagnosis.ts'
import { type Conditions, isOperationActive } from './conditions.ts'
import type { ObservedApplication, OperationResource } from './observed-application.ts'
import { isOurFailure } from './revision-condition.ts'
import type { Snapshot } from './snapshot.ts'
import { applicationCulprit, type Verdict, verdictOf } from './verdict.ts'

/** Whether the failure of a sync counts: an operation that failed on the commit, or automated sync that gave it up. */
export function isSyncFailing(snapshot: Snapshot, conditions: Conditions): boolean {
  if (isOperationActive(snapshot.application)) return false
  return isOurFailure(snapshot) || hasGivenUp(snapshot, conditions)
}

function hasGivenUp({ application, commit }: Snapshot, { isMet }: Conditions): boolean {
  return commit !== undefined && isMet('revision') && !isMet('synced') && syncErrorOf(application) !== undefined
}

function syncErrorOf(application: ObservedApplication): string | undefined {
  return application.conditions.find(({ type }) => type === 'SyncError')?.message
}

/** How a sync failed: a hook, a resource, or all of it. */
export function describeSyncFailure(snapshot: Snapshot): Verdict {
  const { application } = snapshot
  const message = application.operation?.message ?? ''
  if (!isOurFailure(snapshot))
    return verdictOf('auto_sync_stopped', { culprit: applicationCulprit(application, syncErrorOf(application) ?? '') })
  if (/operation terminated/i.test(message))
    return verdictOf('terminated', { culprit: applicationCulprit(application, message) })
  const resources = application.operation?.resources ?? []
  const hook = resources.find(isFailedHook)
  if (hook !== undefined) return verdictOf('hook_failed', { culprit: culpritOfResource(hook, message) })
  const resource = resources.find(({ status }) => status === 'SyncFailed')
  const culprit =
    resource === undefined ? applicationCulprit(application, message) : culpritOfResource(resource, message)
  return verdictOf('sync_error', { culprit })
}

function culpritOfResource(resource: OperationResource, otherwise: string): Culprit {
  const { kind, namespace, name, message } = resource
  return { kind, namespace, name, message: message ?? otherwise }
}

/** A failed hook has the status Synced; plain resources keep a phase that says nothing. */
export function isFailedHook({ hookType, hookPhase }: OperationResource): boolean {
  return hookType !== undefined && (hookPhase === 'Failed' || hookPhase === 'Error')
}
