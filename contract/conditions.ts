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

/** What a task waits for until a condition is met, behind "waiting for". */
export const awaitedOf: Readonly<Record<ConditionName, string>> = {
  alive: 'Argo CD to know the application',
  no_errors: 'Argo CD to compare without errors',
  revision: 'Argo CD to pick up the commit',
  synced: 'Argo CD to sync',
  operation: 'the sync operation to finish',
  compared_after_operation: 'Argo CD to compare after the sync',
  healthy: 'the application to become healthy',
  images: 'Pods with the requested images',
  no_old_pods: 'the old Pods to end',
}

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
