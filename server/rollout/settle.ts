import { isBuiltInGroup } from './kubernetes-groups.ts'
import type { ObservedApplication } from './observed-application.ts'

const withoutNewCommitMs = 2_000
const withCustomHealthMs = 5_000

/**
 * How long all gates must stay open. Nothing, where our commit is new and all health comes from Kubernetes' own kinds: that
 * health belongs to the generation it was reported with. A custom resource may still show the health of the one before, and
 * where nothing had to be committed nothing need have been compared since the task came.
 */
export function settleMs(application: ObservedApplication, isCommitNew: boolean, setting: number | undefined): number {
  if (setting !== undefined) return setting
  const hasCustomHealth = application.resources.some(
    ({ group, health }) => health !== undefined && !isBuiltInGroup(group),
  )
  if (hasCustomHealth) return withCustomHealthMs
  return isCommitNew ? 0 : withoutNewCommitMs
}
