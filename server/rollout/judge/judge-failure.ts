import type { Culprit } from '../../../contract/diagnosis.ts'
import { hasOperationFailed } from './conditions.ts'
import type { Evaluation } from './evaluation.ts'
import { isImageRunning } from './image-reference.ts'
import { culpritOfPod, unrecoverablePod } from './judge-pods.ts'
import { appliedImages } from './last-operation.ts'
import type { ObservedApplication } from './observed-application.ts'
import { inclusionOf } from './revision-condition.ts'
import type { NextAction } from './rollout-observation.ts'
import { badPodGraceOf, type Snapshot } from './snapshot.ts'
import { describeSyncFailure } from './sync-failure.ts'
import { applicationCulprit, type Verdict, verdictOf } from './verdict.ts'

const hasLasted = (sinceMs: number | undefined, graceMs: number, nowMs: number) =>
  sinceMs !== undefined && nowMs - sinceMs >= graceMs

/** The first reason why this rollout cannot succeed by itself, if there is one. */
export function judgeFailure(evaluation: Evaluation): Verdict | undefined {
  return (
    judgeSuperseded(evaluation) ??
    judgeSyncFailure(evaluation) ??
    judgeComparisonError(evaluation) ??
    judgePods(evaluation) ??
    judgeDegraded(evaluation) ??
    judgeForeignImage(evaluation)
  )
}

function judgeSyncFailure(evaluation: Evaluation): Verdict | undefined {
  const { memory, settings, nowMs } = evaluation
  return hasLasted(memory.since.sync_failed, settings.syncFailedGraceMs, nowMs)
    ? describeSyncFailure(evaluation)
    : undefined
}

function judgeComparisonError({ application, appErrors, memory, settings, nowMs }: Evaluation): Verdict | undefined {
  const [error] = appErrors
  if (error === undefined) return undefined
  if (!hasLasted(memory.since.comparison_error, settings.comparisonErrorGraceMs, nowMs)) return undefined
  return verdictOf('comparison_error', { culprit: applicationCulprit(application, `${error.type}: ${error.message}`) })
}

function judgePods(evaluation: Evaluation): Verdict | undefined {
  const { conditions, memory, observation, badPods } = evaluation
  const { tree, podEvents } = observation
  if (tree === undefined || badPods === undefined) return undefined
  if (!conditions.isMet('revision') || conditions.isMet('healthy')) return undefined
  const pod = unrecoverablePod(badPods, memory.badPods, tree.askedAtMs, badPodGraceOf(evaluation))
  return pod === undefined ? undefined : verdictOf(pod.cause, { culprit: culpritOfPod(pod, podEvents?.value) })
}

/** Degraded counts from the revision of the task on; what was degraded before is history. */
function judgeDegraded({
  application,
  badPods,
  memory,
  observation,
  settings,
  nowMs,
}: Evaluation): Verdict | undefined {
  if (!hasLasted(memory.since.degraded, settings.degradedGraceMs, nowMs)) return undefined
  const [bad] = badPods ?? []
  return bad === undefined
    ? verdictOf('degraded', { culprit: degradedResource(application) })
    : verdictOf(bad.cause, { culprit: culpritOfPod(bad, observation.podEvents?.value) })
}

function degradedResource(application: ObservedApplication): Culprit {
  const worst = application.resources.find(({ health }) => health === 'Degraded')
  if (worst === undefined) return applicationCulprit(application, application.healthMessage ?? '')
  const { kind, namespace, name, healthMessage } = worst
  return { kind, namespace, name, message: healthMessage ?? '' }
}

/** A later commit that sets another tag for a requested image ends the wait for the task's own. */
function judgeSuperseded(snapshot: Snapshot): Verdict | undefined {
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
function laterRevisions(snapshot: Snapshot): readonly string[] {
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
  const applied = appliedImages(application)
  const lacksImage = task.images.some((image) => !isImageRunning(image, applied, settings))
  const isConclusive = hasOperationFailed(application) || applied.length > 0 || conditions.isMet('synced')
  if (!lacksImage || !isConclusive || conditions.areMet) return []
  const unread = laterRevisions(evaluation).filter((revision) => !observation.overrides.has(revision))
  return unread.map((revision) => ({ kind: 'override_at', revision }))
}

function judgeForeignImage({ application, foreignImage, observation }: Evaluation): Verdict | undefined {
  if (observation.annotations.skipImageValidation || foreignImage.kind !== 'foreign') return undefined
  const message = `${foreignImage.image.image} is not among its images: ${foreignImage.has.join(', ')}`
  return verdictOf('image_not_in_application', { culprit: applicationCulprit(application, message) })
}
