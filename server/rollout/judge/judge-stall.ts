import type { Evaluation } from './evaluate.ts'
import { imagesOf, isImageRunning } from './image-reference.ts'
import { lastingBadPod } from './judge-pods.ts'
import { isOperationActive, type ObservedApplication, syncErrorOf } from './observed-application.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import { currentValue, isAwaitingCommit } from './snapshot.ts'
import { describeSyncFailure } from './sync-failure.ts'
import { applicationVerdict, comparisonErrorVerdict, podVerdict, type Verdict, verdictOf } from './verdict.ts'

/** What keeps a rollout from completing now: of an unfinished task not yet a verdict, at its deadline the cause. */
export function findHoldUp(evaluation: Evaluation, { since, badPods }: RolloutMemory): Verdict | undefined {
  if (since.gone !== undefined) return verdictOf('app_gone')
  // What the application shows before the commit has nothing to do with this task.
  if (isAwaitingCommit(evaluation)) return undefined
  return (
    comparisonErrorVerdict(evaluation) ??
    (since.sync_failed === undefined ? undefined : describeSyncFailure(evaluation)) ??
    judgeStall(evaluation, since.idle_out_of_sync !== undefined) ??
    judgeBlockingPod(evaluation, badPods)
  )
}

/** Why a rollout stands still although nothing is wrong. */
function judgeStall(evaluation: Evaluation, isIdleOutOfSync: boolean): Verdict | undefined {
  const { application, conditions, observation } = evaluation
  const isSuspended = application.healthStatus === 'Suspended' && !conditions.isMet('healthy')
  if (isSuspended && conditions.isMet('revision')) return verdictOf('suspended')
  if (isBlockedByWindow(application))
    return applicationVerdict('sync_window', application, application.operation?.message ?? '')
  const declared = declaredInstead(evaluation)
  if (declared.length > 0) {
    const message = `the manifests still declare ${declared.join(', ')}`
    return applicationVerdict('commit_without_effect', application, message)
  }
  if (!isIdleOutOfSync) return undefined
  if (!application.isAutoSynced) return verdictOf('manual_sync_required')
  const syncError = syncErrorOf(application)
  // Only a person, or a new commit, gets it going again.
  if (syncError !== undefined) return applicationVerdict('auto_sync_stopped', application, syncError)
  const blockedBy = observation.windows?.value?.blockedBy
  if (blockedBy === undefined) return undefined
  return applicationVerdict('sync_window', application, `automated sync is blocked by ${blockedBy}`)
}

/** The other tags that the manifests declare although the commit is applied and every condition but the images is met. */
function declaredInstead(evaluation: Evaluation): readonly string[] {
  const { commit, conditions, task, settings, observation } = evaluation
  if (commit === undefined || !conditions.othersAreMet || conditions.isMet('images')) return []
  const declared = currentValue(observation.managed, evaluation)?.declaredImages
  if (declared === undefined) return []
  const missing = task.images.filter((image) => !isImageRunning(image, declared, settings))
  return [...new Set(missing.flatMap((image) => imagesOf(image, declared, settings)))]
}

function isBlockedByWindow(application: ObservedApplication): boolean {
  return isOperationActive(application) && /blocked by sync window/i.test(application.operation?.message ?? '')
}

/** The Pod that keeps a synced application from getting healthy. */
function judgeBlockingPod(evaluation: Evaluation, known: RolloutMemory['badPods']): Verdict | undefined {
  const { isMet } = evaluation.conditions
  if (isMet('healthy') || !isMet('revision') || !isMet('synced')) return undefined
  const pod = lastingBadPod(evaluation.badPods ?? [], known)
  return pod && podVerdict(pod, evaluation.observation)
}
