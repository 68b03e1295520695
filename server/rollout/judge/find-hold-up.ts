import type { Evaluation } from './evaluation.ts'
import { culpritOfPod, lastingBadPod } from './judge-pods.ts'
import { isAwaitingCommit } from './snapshot.ts'
import { describeSyncFailure } from './sync-failure.ts'
import { applicationCulprit, type Verdict, verdictOf } from './verdict.ts'

/** What keeps a rollout from completing now: of an unfinished task not yet a verdict, at its deadline the cause. */
export function findHoldUp(evaluation: Evaluation): Verdict | undefined {
  const { application, appErrors, stall, observation } = evaluation
  if (evaluation.memory.since.gone !== undefined) return verdictOf('app_gone')
  // What the application shows before the commit has nothing to do with this task.
  if (isAwaitingCommit(evaluation)) return undefined
  const [error] = appErrors
  if (error !== undefined)
    return verdictOf('comparison_error', {
      culprit: applicationCulprit(application, `${error.type}: ${error.message}`),
    })
  if (evaluation.isSyncFailing) return describeSyncFailure(evaluation)
  if (stall !== undefined) {
    const culprit = stall.message === '' ? undefined : applicationCulprit(application, stall.message)
    return verdictOf(stall.cause, { culprit })
  }
  const pod = blockingPod(evaluation)
  return pod === undefined
    ? undefined
    : verdictOf(pod.cause, { culprit: culpritOfPod(pod, observation.podEvents?.value) })
}

/** The Pod that keeps a synced application from getting healthy. */
function blockingPod({ conditions: { isMet }, badPods, memory }: Evaluation) {
  if (badPods === undefined || isMet('healthy') || !isMet('revision') || !isMet('synced')) return undefined
  return lastingBadPod(badPods, memory.badPods)
}
