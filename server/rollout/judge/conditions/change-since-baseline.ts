import { appliedComparedRevision } from '../../observed/observed-application.ts'
import { changeOverdueAtMs, type JudgeInput } from '../input/judge-input.ts'
import { appliedImagesOf } from './applied-images.ts'
import { isImageRunning } from './image-reference.ts'

type SinceBaseline = Pick<JudgeInput, 'application' | 'baseline'>

/** Whether an operation began since the baseline was taken. */
export function hasLaterOperation({ application, baseline }: SinceBaseline): boolean {
  const startedAtMs = application.operation?.startedAtMs
  return baseline !== undefined && startedAtMs !== undefined && startedAtMs !== baseline.operation?.startedAtMs
}

/**
 * Whether a change by another committer has begun to show: an image that was not listed, or a later operation. A new
 * revision proves nothing, as it may be anybody's commit, and neither does an image that is gone: Pods of the rollout before
 * may have ended.
 */
export function isChangeVisible(snapshot: SinceBaseline): boolean {
  const before = snapshot.baseline?.images ?? []
  return hasLaterOperation(snapshot) || snapshot.application.images.some((image) => !before.includes(image))
}

/**
 * Whether the change itself was witnessed: the baseline lacked a requested image, and an operation that began later applied all
 * of them at the compared revision and succeeded. That proves as much as a commit of ours. An operation that corrects a drift
 * lists only what drifted, so what was witnessed once stays so until another tag is applied.
 */
export function isChangeWitnessed(snapshot: JudgeInput): boolean {
  return isWitness(snapshot) || (snapshot.wasWitnessed && !hasAppliedAnotherTag(snapshot))
}

function isWitness(snapshot: JudgeInput): boolean {
  const { application, baseline, task, settings } = snapshot
  if (baseline === undefined || !hasLaterOperation(snapshot)) return false
  if (application.operation?.phase !== 'Succeeded' || !appliedComparedRevision(application)) return false
  return (
    task.images.some((image) => !isImageRunning(image, baseline.images, settings)) &&
    task.images.every((image) => isImageRunning(image, appliedImagesOf(image, application, settings), settings))
  )
}

function hasAppliedAnotherTag({ application, task, settings }: JudgeInput): boolean {
  return task.images.some((image) => {
    const applied = appliedImagesOf(image, application, settings)
    return applied.length > 0 && !isImageRunning(image, applied, settings)
  })
}

/**
 * Why a state in which another tag ran beside the requested one from the start may be judged now; undefined: the commit that
 * brings the requested tag to the other containers may still be on its way.
 */
export function changeEvidence(snapshot: JudgeInput): string | undefined {
  const { application, baseline, task } = snapshot
  if (application.images.join() !== baseline?.images.join()) return 'the list of images changed'
  if (application.revisions.join() !== baseline.revisions.join()) return 'the revision changed'
  if (hasLaterOperation(snapshot)) return 'an operation began'
  if (!isChangeOverdue(snapshot)) return undefined
  return task.refresh ? 'two refreshes within 30s found no change' : 'nothing changed for 60s'
}

/** No change has come although there was time and two refreshes, or more time where none may be requested. */
const isChangeOverdue = ({ task, refreshAnswers, nowMs }: JudgeInput) =>
  nowMs >= changeOverdueAtMs(task) && (refreshAnswers >= 2 || !task.refresh)
