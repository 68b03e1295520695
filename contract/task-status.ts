/** Every status a task can show. `accepted` is only the answer to the submission; GET shows `in progress` from then on. */
export const finalStatuses = ['deployed', 'failed', 'app not found', 'aborted', 'cancelled'] as const
export type FinalStatus = (typeof finalStatuses)[number]

export const taskStatuses = ['in progress', ...finalStatuses] as const
export type TaskStatus = (typeof taskStatuses)[number]

export function isFinal(status: TaskStatus): status is FinalStatus {
  return status !== 'in progress'
}
