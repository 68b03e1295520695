import type { Culprit } from '../../../../contract/diagnosis.ts'
import {
  isFailedHook,
  isOperationActive,
  type OperationResource,
  syncErrorOf,
} from '../../observed/observed-application.ts'
import type { Conditions } from '../conditions/conditions.ts'
import { concernsTask } from '../conditions/revision-condition.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import { applicationVerdict, type Verdict, verdictOf } from '../input/verdict.ts'

/** Whether the failure of a sync counts: an operation that failed on the commit, or automated sync that gave it up. */
export function isSyncFailing(snapshot: JudgeInput, conditions: Conditions): boolean {
  if (isOperationActive(snapshot.application)) return false
  return concernsTask(snapshot) || hasGivenUp(snapshot, conditions)
}

function hasGivenUp({ application, commit }: JudgeInput, { isMet }: Conditions): boolean {
  return commit !== undefined && isMet('revision') && !isMet('synced') && syncErrorOf(application) !== undefined
}

/** How a sync failed: a hook, a resource, or all of it. */
export function describeSyncFailure(snapshot: JudgeInput): Verdict {
  const { application } = snapshot
  if (!concernsTask(snapshot))
    return applicationVerdict('auto_sync_stopped', application, syncErrorOf(application) ?? '')
  const { message = '', resources = [] } = application.operation ?? {}
  if (/operation terminated/i.test(message)) return applicationVerdict('terminated', application, message)
  const hook = resources.find(isFailedHook)
  if (hook !== undefined) return verdictOf('hook_failed', { culprit: culpritOfResource(hook, message) })
  const resource = resources.find(({ status }) => status === 'SyncFailed')
  return resource === undefined
    ? applicationVerdict('sync_error', application, message)
    : verdictOf('sync_error', { culprit: culpritOfResource(resource, message) })
}

export function culpritOfResource(resource: OperationResource, otherwise: string): Culprit {
  const { kind, namespace, name, message } = resource
  return { kind, namespace, name, message: message ?? otherwise }
}
