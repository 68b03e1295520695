import { isBuiltInGroup } from '../../observed/kubernetes-groups.ts'
import { isChangeWitnessed } from '../conditions/change-since-baseline.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import type { StateStartTimes } from '../input/rollout-memory.ts'
import { rolloutTimes } from '../input/rollout-settings.ts'

const withoutProofMs = 2_000
const withCustomHealthMs = 5_000

/**
 * How long all conditions must stay met. Nothing, where our commit is new or the change itself was witnessed, and all health comes
 * from Kubernetes' own kinds: that health belongs to the generation it was reported with. A custom resource may still show the
 * health of the one before, and where the images were there already nothing need have been compared since the task came.
 */
function settleMs(snapshot: JudgeInput): number {
  const { application, commit, settings } = snapshot
  if (settings.settleMs !== undefined) return settings.settleMs
  const hasCustomHealth = application.resources.some(
    ({ group, health }) => health !== undefined && !isBuiltInGroup(group),
  )
  if (hasCustomHealth) return withCustomHealthMs
  return commit?.isNew === true || isChangeWitnessed(snapshot) ? 0 : withoutProofMs
}

/** How much of the final check follows the settle time: with our own settle times no task ends 10 s after its deadline. */
const checkAfterSettlingMs = 4_000

export type Timing = {
  /** When a complete rollout will have settled; what is not complete never does. */
  readonly settledAtMs: number
  /** When the final check begins: at the deadline or, of what is complete by then, so that it lasts beyond the settle time. */
  readonly finalCheckAtMs: number
}

export function timingOf(snapshot: JudgeInput, { complete }: StateStartTimes): Timing {
  const { deadlineMs } = snapshot.task
  if (complete === undefined) return { settledAtMs: Number.POSITIVE_INFINITY, finalCheckAtMs: deadlineMs }
  const settledAtMs = complete + settleMs(snapshot)
  if (complete > deadlineMs) return { settledAtMs, finalCheckAtMs: deadlineMs }
  const lastsMs = checkAfterSettlingMs - rolloutTimes.finalCheckMs
  return { settledAtMs, finalCheckAtMs: Math.max(deadlineMs, settledAtMs + lastsMs) }
}
