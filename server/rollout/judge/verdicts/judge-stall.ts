import { isOperationActive, type ObservedApplication, syncErrorOf } from '../../observed/observed-application.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { imagesOf, isImageRunning } from '../conditions/image-reference.ts'
import { lastingBadPod } from '../conditions/judge-pods.ts'
import { currentValue, isAwaitingCommit } from '../input/judge-input.ts'
import type { RolloutMemory, StateStartTimes } from '../input/rollout-memory.ts'
import { rolloutTimes } from '../input/rollout-settings.ts'
import { applicationVerdict, comparisonErrorVerdict, type Verdict, verdictOf } from '../input/verdict.ts'
import { accuse, accusePod } from '../report/accuse.ts'
import { judgeActiveOperation } from './judge-active-operation.ts'
import { pausedCulprit } from './judge-argo-rollouts.ts'
import { describeSyncFailure } from './sync-failure.ts'

/** What keeps a rollout from completing now: of an unfinished task not yet a verdict, at its deadline the cause. */
export function findBlocker(evaluation: Evaluation, { since, badPods }: RolloutMemory): Verdict | undefined {
  if (since.gone !== undefined) return verdictOf('app_gone')
  // What the application shows before the commit has nothing to do with this task.
  if (isAwaitingCommit(evaluation)) return undefined
  return (
    comparisonErrorVerdict(evaluation) ??
    (since.sync_failed === undefined ? undefined : describeSyncFailure(evaluation)) ??
    judgeSilence(evaluation, since) ??
    judgeActiveOperation(evaluation, since) ??
    judgeStall(evaluation, since.idle_out_of_sync !== undefined) ??
    judgeSuspect(evaluation, badPods) ??
    judgeMissingAlias(evaluation)
  )
}

/** Why a rollout stands still although nothing is wrong. */
function judgeStall(evaluation: Evaluation, isIdleOutOfSync: boolean): Verdict | undefined {
  const { application, conditions, observation } = evaluation
  const isSuspended = application.healthStatus === 'Suspended' && !conditions.isMet('healthy')
  if (isSuspended && conditions.isMet('revision')) return verdictOf('suspended', { culprit: pausedCulprit(evaluation) })
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
  return applicationVerdict('sync_window', application, `automated sync is blocked: ${blockedBy}`)
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

/** What keeps a synced application from getting healthy, where more than its slowness is known of it. */
function judgeSuspect(evaluation: Evaluation, known: RolloutMemory['badPods']): Verdict | undefined {
  const { conditions, suspect, badPods = [] } = evaluation
  const { isMet } = conditions
  if (isMet('healthy') || !isMet('revision') || !isMet('synced')) return undefined
  const pod = lastingBadPod(badPods, known)
  if (pod !== undefined) return accusePod(pod, evaluation)
  if (suspect === undefined || suspect.found.kind === 'pod') return undefined
  const accused = accuse(suspect, evaluation)
  return accused?.cause === 'degraded' || accused?.cause === 'timeout' ? undefined : accused
}

/** A refresh that Argo CD's controller does not answer; its API answers without it. */
function judgeSilence(
  { application, conditions, refreshAnswers, nowMs }: Evaluation,
  since: StateStartTimes,
): Verdict | undefined {
  const { refresh_pending: sinceMs } = since
  if (sinceMs === undefined || refreshAnswers > 0 || conditions.isMet('revision')) return undefined
  if (nowMs - sinceMs < rolloutTimes.silentControllerMs) return undefined
  return applicationVerdict('controller_silent', application, 'no requested refresh was answered')
}

/** Another tool may still commit the tag, so this ends no task early. */
function judgeMissingAlias({ application, conditions, observation }: Evaluation): Verdict | undefined {
  const { writeBack } = observation
  if (writeBack.kind !== 'monitor' || writeBack.why !== 'no_alias' || conditions.isMet('images')) return undefined
  return applicationVerdict('annotation_invalid', application, writeBack.note.replace(/^nothing was committed: /, ''))
}
