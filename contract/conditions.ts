/** What must hold before a task is `deployed`, in the order of a rollout. */
export const conditionNames = [
  'alive',
  'no_errors',
  'revision',
  'synced',
  'operation',
  'compared_after_operation',
  'healthy',
  'images',
  'no_old_pods',
] as const
export type ConditionName = (typeof conditionNames)[number]

/** `unknown`: not read yet, or not to be known. */
export const conditionStates = ['met', 'not_met', 'unknown'] as const
export type ConditionState = (typeof conditionStates)[number]

/** The first condition that is not met; undefined where all are, or none is known. */
export function firstUnmet<Condition extends { readonly state: ConditionState }>(
  conditions: readonly Condition[],
): Condition | undefined {
  return conditions.every(({ state }) => state === 'unknown')
    ? undefined
    : conditions.find(({ state }) => state !== 'met')
}
