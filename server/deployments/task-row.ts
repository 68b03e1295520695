import type { Selectable } from 'kysely'
import type { Schema } from '../storage/schema.ts'
import type { Claim, Task } from './task.ts'

/** A task this replica has just claimed. `remainingMs` is what the database's clock leaves of its time, maybe below 0. */
export type ClaimedTask = {
  readonly task: Task
  readonly claim: Claim
  readonly remainingMs: number
  readonly baseline: object | undefined
}

export const claimedOf = (row: Selectable<Schema['tasks']> & { remaining_ms: string }, owner: string): ClaimedTask => ({
  task: taskOf(row),
  claim: { taskId: row.id, owner, fence: row.fence },
  remainingMs: Number(row.remaining_ms),
  baseline: row.baseline ?? undefined,
})

export const taskOf = (row: Selectable<Schema['tasks']>): Task => ({
  id: row.id,
  created: row.created,
  updated: row.updated,
  deadline: row.deadline,
  app: row.app,
  author: row.author,
  project: row.project,
  images: row.images,
  timeoutSeconds: row.timeout_seconds,
  refresh: row.refresh,
  source: row.source ?? undefined,
  mayWrite: row.may_write,
  status: row.status,
  statusReason: row.status_reason ?? undefined,
  cause: row.cause ?? undefined,
  progress: row.progress ?? undefined,
  appUrl: row.app_url ?? undefined,
  isRollback: row.is_rollback,
  rollbackTargetId: row.rollback_target_id ?? undefined,
  commit: row.commit ?? undefined,
  repository: row.repository ?? undefined,
  branch: row.branch ?? undefined,
})
