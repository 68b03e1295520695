import { isFailedHook, isOperationActive } from '../../observed/observed-application.ts'
import { hasLaterOperation } from '../conditions/change-since-baseline.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { awaitedByOperation, isAwaited, isOperationWaiting } from '../conditions/operation-wait.ts'
import { appliedTaskCommit } from '../conditions/revision-condition.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import type { StateStartTimes } from '../input/rollout-memory.ts'
import { rolloutTimes } from '../input/rollout-settings.ts'
import { applicationVerdict, type Verdict, verdictOf } from '../input/verdict.ts'
import { accuse } from '../report/accuse.ts'
import { culpritOfResource } from './sync-failure.ts'

/** Whether an operation runs that brings what the task waits for. */
export function isOperating(snapshot: JudgeInput): boolean {
  const { application, commit, baseline } = snapshot
  if (!isOperationActive(application) || application.operation === undefined) return false
  if (commit !== undefined) return appliedTaskCommit(snapshot)
  return hasLaterOperation(snapshot) || baseline?.operation?.isOver === false
}

/** Why an operation that still runs gets nowhere: a refused sync that is tried again, or something that it waits for. */
export function judgeActiveOperation(evaluation: Evaluation, { operating }: StateStartTimes): Verdict | undefined {
  const { application, nowMs, suspect } = evaluation
  const { operation } = application
  if (operating === undefined || operation === undefined) return undefined
  const refused = judgeRefusal(evaluation)
  if (refused !== undefined) return refused
  if (!isOperationWaiting(application) || nowMs - operating < rolloutTimes.operationWaitMs) return undefined
  const isBlocking = suspect?.below === 'operation' || suspect?.below === 'requested_image'
  const accused = isBlocking ? accuse(suspect, evaluation) : undefined
  if (accused?.cause !== undefined && !isOnlySlow(accused)) return accused
  return waitingFor(evaluation)
}

/** What is only not ready yet does not explain more than the operation's own message. */
const isOnlySlow = ({ cause }: Verdict) => cause === 'timeout' || cause === 'degraded' || cause === 'probe_failing'

function judgeRefusal({ application }: Evaluation): Verdict | undefined {
  const { message = '', resources = [], retries = 0 } = application.operation ?? {}
  const hook = resources.find(isFailedHook)
  if (hook !== undefined) return verdictOf('hook_failed', { culprit: culpritOfResource(hook, message) })
  const refused = resources.find(({ status }) => status === 'SyncFailed')
  if (refused !== undefined) return verdictOf('sync_error', { culprit: culpritOfResource(refused, message) })
  return retries > 0 && message !== '' && !isOperationWaiting(application)
    ? applicationVerdict('sync_error', application, message)
    : undefined
}

function waitingFor({ application, observation }: Evaluation): Verdict {
  const message = application.operation?.message ?? ''
  const awaited = awaitedByOperation(application)
  if (awaited === undefined) return applicationVerdict('operation_waiting', application, message)
  const { kind, name } = awaited
  const listed = application.resources.find(isAwaited(awaited))
  const inTree = observation.tree?.value?.resources.find(isAwaited(awaited))
  const namespace = listed?.namespace ?? inTree?.namespace ?? ''
  const own = listed?.healthMessage ?? inTree?.message
  return verdictOf('operation_waiting', { culprit: { kind, namespace, name, message: own ?? message } })
}
