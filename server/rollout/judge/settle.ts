import { isChangeWitnessed } from './change-since-baseline.ts'
import type { GateContext } from './gates.ts'
import { isBuiltInGroup } from './kubernetes-groups.ts'

const withoutProofMs = 2_000
const withCustomHealthMs = 5_000

/**
 * How long all gates must stay open. Nothing, where our commit is new or the change itself was witnessed, and all health comes
 * from Kubernetes' own kinds: that health belongs to the generation it was reported with. A custom resource may still show the
 * health of the one before, and where the images were there already nothing need have been compared since the task came.
 */
export function settleMs(
  context: Pick<GateContext, 'application' | 'baseline' | 'commit' | 'wanted' | 'settings'>,
  setting: number | undefined,
): number {
  if (setting !== undefined) return setting
  const hasCustomHealth = context.application.resources.some(
    ({ group, health }) => health !== undefined && !isBuiltInGroup(group),
  )
  if (hasCustomHealth) return withCustomHealthMs
  return context.commit?.isNew === true || isChangeWitnessed(context) ? 0 : withoutProofMs
}
