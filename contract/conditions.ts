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

type Stated = { readonly name: string; readonly state: ConditionState }

/** Those that are not met, in their order; an operation that is not over before the sync, as it says why. */
export function unmetOf<Condition extends Stated>(conditions: readonly Condition[]): readonly Condition[] {
  const unmet = conditions.filter(({ state }) => state !== 'met')
  const operation = unmet.find(({ name, state }) => name === 'operation' && state === 'not_met')
  if (operation === undefined || unmet.every(({ name }) => name !== 'synced')) return unmet
  return unmet.filter((one) => one !== operation).flatMap((one) => (one.name === 'synced' ? [operation, one] : [one]))
}

/** The first condition that is not met; undefined where all are, or none is known. */
export const firstUnmet = <Condition extends Stated>(conditions: readonly Condition[]): Condition | undefined =>
  conditions.every(({ state }) => state === 'unknown') ? undefined : unmetOf(conditions)[0]
