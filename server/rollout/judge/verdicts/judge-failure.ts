import {
  appliedImages,
  hasOperationFailed,
  type ObservedApplication,
  type ObservedResource,
} from '../../observed/observed-application.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { isImageRunning } from '../conditions/image-reference.ts'
import { unrecoverablePod } from '../conditions/judge-pods.ts'
import { inclusionOf } from '../conditions/revision-condition.ts'
import { degradedKey, degradedRoot } from '../conditions/suspect.ts'
import { badPodGraceOf, type JudgeInput } from '../input/judge-input.ts'
import type { RolloutMemory, StateStartTimes, TrackedState } from '../input/rollout-memory.ts'
import type { NextAction } from '../input/rollout-observation.ts'
import { applicationVerdict, comparisonErrorVerdict, type Verdict, verdictOf } from '../input/verdict.ts'
import { accuse, accusePod } from '../report/accuse.ts'
import { degradedByAbort, judgeAbort } from './judge-argo-rollouts.ts'
import { describeSyncFailure } from './sync-failure.ts'

/** The first reason why this rollout cannot succeed by itself, if there is one. */
export function judgeFailure(evaluation: Evaluation, { since, badPods }: RolloutMemory): Verdict | undefined {
  const { settings, nowMs } = evaluation
  const after = (state: TrackedState, graceMs: number, judge: (evaluation: Evaluation) => Verdict | undefined) =>
    nowMs - (since[state] ?? Number.POSITIVE_INFINITY) >= graceMs ? judge(evaluation) : undefined
  return (
    judgeSuperseded(evaluation) ??
    after('sync_failed', settings.syncFailedGraceMs, describeSyncFailure) ??
    after('comparison_error', settings.comparisonErrorGraceMs, comparisonErrorVerdict) ??
    judgeAbort(evaluation, since) ??
    judgePods(evaluation, badPods) ??
    after('degraded', settings.degradedGraceMs, (degraded) => judgeDegraded(degraded, since)) ??
    judgeForeignImage(evaluation)
  )
}

function judgePods(evaluation: Evaluation, known: RolloutMemory['badPods']): Verdict | undefined {
  const { conditions, badPods } = evaluation
  const { tree } = evaluation.observation
  if (tree === undefined || badPods === undefined) return undefined
  if (!conditions.isMet('revision') || conditions.isMet('healthy')) return undefined
  const pod = unrecoverablePod(badPods, known, tree.askedAtMs, badPodGraceOf(evaluation))
  return pod && accusePod(pod, evaluation)
}

/** Degraded counts from the revision of the task on; what was degraded before is history. */
export function judgeDegraded(evaluation: Evaluation, since: StateStartTimes): Verdict | undefined {
  const { application, degradedBefore, suspect } = evaluation
  const aborted = degradedByAbort(evaluation, since)
  if (aborted === 'history') return undefined
  if (aborted !== undefined) return aborted
  const isBelow = suspect?.below === 'requested_image' || suspect?.below === 'degraded'
  const accused = isBelow ? accuse(suspect, evaluation) : undefined
  const root = degradedRoot(application, degradedBefore)
  const isOld = root !== undefined && degradedBefore.includes(degradedKey(root))
  const verdict = accused ?? verdictOfDegraded(application, root)
  if (!isOld || suspect?.below === 'requested_image' || verdict.culprit === undefined) return verdict
  return { ...verdict, culprit: { ...verdict.culprit, before_deployment: true } }
}

function verdictOfDegraded(application: ObservedApplication, root: ObservedResource | undefined): Verdict {
  if (root === undefined) return applicationVerdict('degraded', application, application.healthMessage ?? '')
  const { kind, namespace, name, healthMessage: message = '' } = root
  return verdictOf('degraded', { culprit: { kind, namespace, name, message } })
}

/** A later commit that sets another tag for a requested image ends the wait for the task's own. */
function judgeSuperseded(snapshot: JudgeInput): Verdict | undefined {
  for (const revision of laterRevisions(snapshot)) {
    const override = snapshot.observation.overrides.get(revision)
    const other = snapshot.task.images.find(
      ({ image, tag }) => override?.has(image) === true && override.get(image) !== tag,
    )
    if (other === undefined) continue
    const tag = `${other.image}:${override?.get(other.image)}`
    return verdictOf('superseded', { supersededBy: { commit: revision, tag } })
  }
  return undefined
}

/** Revisions after the commit that were reported for a source it was pushed to. */
function laterRevisions(snapshot: JudgeInput): readonly string[] {
  const { commit, application } = snapshot
  if (commit === undefined) return []
  return commitsReported(application).filter(
    (revision) => revision !== commit.commit && inclusionOf(snapshot, commit, revision) === 'reached',
  )
}

/** Of a hydrated application the revisions are the hydrator's; what people commit is what it made them of. */
const commitsReported = ({ isHydrated, hydration, revisions }: ObservedApplication): readonly string[] =>
  isHydrated ? [hydration.lastDryRevision ?? ''] : revisions

/**
 * Other people's commits come all the time, so the override file of one is looked at only when something speaks against ours:
 * what was applied, or what runs in sync, lacks a requested image.
 */
export function missingOverrides(evaluation: Evaluation): readonly NextAction[] {
  const { application, task, settings, conditions, observation } = evaluation
  const unread = laterRevisions(evaluation).filter((revision) => !observation.overrides.has(revision))
  if (unread.length === 0 || conditions.areMet) return []
  const applied = appliedImages(application)
  const lacksImage = task.images.some((image) => !isImageRunning(image, applied, settings))
  const isConclusive = hasOperationFailed(application) || applied.length > 0 || conditions.isMet('synced')
  return lacksImage && isConclusive ? unread.map((revision) => ({ kind: 'override_at', revision })) : []
}

function judgeForeignImage({ application, foreignImage, observation }: Evaluation): Verdict | undefined {
  if (observation.annotations.skipImageValidation || foreignImage.kind !== 'foreign') return undefined
  const message = `${foreignImage.image.image} is not among its images: ${foreignImage.has.join(', ')}`
  return applicationVerdict('image_not_in_application', application, message)
}
