import type { GateContext } from './gates.ts'
import { isImageRunning } from './image-reference.ts'
import { appliedComparedRevision, appliedImages } from './last-operation.ts'

type SinceBaseline = Pick<GateContext, 'application' | 'baseline'>

/** Whether an operation began since the baseline was taken. */
export function hasLaterOperation({ application, baseline }: SinceBaseline): boolean {
  const startedAtMs = application.operation?.startedAtMs
  return baseline !== undefined && startedAtMs !== undefined && startedAtMs !== baseline.operation?.startedAtMs
}

/**
 * Whether a change that somebody else commits has begun to show: an image that was not listed, or a later operation. A new
 * revision proves nothing, as it may be anybody's commit, and neither does an image that is gone: Pods of the rollout before
 * may have ended.
 */
export function isChangeVisible(context: SinceBaseline): boolean {
  const before = context.baseline?.images ?? []
  return hasLaterOperation(context) || context.application.images.some((image) => !before.includes(image))
}

/**
 * Whether the change itself was witnessed: the baseline lacked a requested image, and an operation that began later applied all
 * of them at the compared revision and succeeded. That proves as much as a commit of ours.
 */
export function isChangeWitnessed(
  context: Pick<GateContext, 'application' | 'baseline' | 'wanted' | 'settings'>,
): boolean {
  const { application, baseline, wanted, settings } = context
  if (baseline === undefined || !hasLaterOperation(context)) return false
  if (application.operation?.phase !== 'Succeeded' || !appliedComparedRevision(application)) return false
  const applied = appliedImages(application)
  return (
    wanted.some((image) => !isImageRunning(image, baseline.images, settings)) &&
    wanted.every((image) => isImageRunning(image, applied, settings))
  )
}

/**
 * Why a state in which another tag ran beside the requested one from the start may be judged now; undefined: the commit that
 * brings the requested tag to the other containers may still be on its way.
 */
export function whyNotFromBefore(
  context: Pick<GateContext, 'application' | 'baseline' | 'isChangeOverdue' | 'mayRefresh'>,
): string | undefined {
  const { application, baseline } = context
  if (application.images.join() !== baseline?.images.join()) return 'the list of images changed'
  if (application.revisions.join() !== baseline.revisions.join()) return 'the revision changed'
  if (hasLaterOperation(context)) return 'an operation began'
  if (!context.isChangeOverdue) return undefined
  return context.mayRefresh ? 'two refreshes within 30s found no change' : 'nothing changed for 60s'
}
