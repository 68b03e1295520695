import type { TaskRecord } from '../../../contract/task.ts'
import { finalStatuses } from '../../../contract/task-status.ts'

/** "2 deployed, 1 failed": what ended between two looks at the same rows; empty if nothing did. */
export function summarizeChanges(before: readonly TaskRecord[], after: readonly TaskRecord[]): string {
  const statusBefore = new Map(before.map(({ id, status }) => [id, status]))
  const ended = after.filter(({ id, status }) => statusBefore.get(id) === 'in progress' && status !== 'in progress')
  return finalStatuses
    .map((status) => ({ status, count: ended.filter((task) => task.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status}`)
    .join(', ')
}
