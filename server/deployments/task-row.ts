import type { Selectable } from 'kysely'
import type { Cause } from '../../contract/causes.ts'
import { firstUnmet } from '../../contract/conditions.ts'
import type { Condition } from '../../contract/diagnosis.ts'
import type { FinalStatus } from '../../contract/task-status.ts'
import type { Schema } from '../storage/schema.ts'
import type { Claim, DeployedTask, Task } from './task.ts'

/** A task this replica has just claimed. `remainingMs` is what the database's clock leaves of its time, maybe below 0. */
export type ClaimedTask = {
  readonly task: Task
  readonly claim: Claim
  readonly remainingMs: number
  /** As its watcher stored it. */
  readonly baseline: object | undefined
}

/** A task that has just ended. */
export type EndedTask = {
  readonly id: string
  readonly status: FinalStatus
  /** Why it did not end deployed. */
  readonly cause: Cause | undefined
  /** undefined: it is not confirmed that such an application exists. */
  readonly confirmedApp: string | undefined
  readonly seconds: number
  /** The task that takes its commit back, which any replica may claim. */
  readonly rolledBackBy?: string
}

export type EndedRow = Pick<Selectable<Schema['tasks']>, 'id' | 'app' | 'created' | 'updated' | 'app_url' | 'cause'>

export const endedOf = (row: EndedRow, status: FinalStatus): EndedTask => ({
  id: row.id,
  status,
  cause: row.cause ?? undefined,
  confirmedApp: row.app_url === null ? undefined : row.app,
  seconds: (row.updated.getTime() - row.created.getTime()) / 1000,
})

export const claimedOf = (row: Selectable<Schema['tasks']> & { remaining_ms: string }, owner: string): ClaimedTask => ({
  task: taskOf(row),
  claim: { taskId: row.id, owner, fence: row.fence },
  remainingMs: Number(row.remaining_ms),
  baseline: row.baseline ?? undefined,
})

/** What is read of a task that is one of many: all but its diagnosis and what only the service itself needs. */
export const listedColumns = [
  'id',
  'created',
  'updated',
  'deadline',
  'app',
  'author',
  'project',
  'environment',
  'images',
  'timeout_seconds',
  'wait_for_app_seconds',
  'refresh',
  'source',
  'may_write',
  'reader_digests',
  'status',
  'status_reason',
  'cause',
  'progress',
  'app_url',
  'is_rollback',
  'rollback_target_id',
  'rollback_of',
  'commit',
  'repository',
  'branch',
] as const satisfies readonly (keyof Schema['tasks'])[]

type TaskRow = Pick<Selectable<Schema['tasks']>, (typeof listedColumns)[number]> &
  Partial<Pick<Selectable<Schema['tasks']>, 'diagnosis'>> & {
    readonly conditions?: readonly Condition[] | null
    readonly headline?: string | null
    readonly previous?: DeployedTask | null
  }

export const taskOf = (row: TaskRow): Task => ({
  id: row.id,
  created: row.created,
  updated: row.updated,
  deadline: row.deadline,
  app: row.app,
  author: row.author,
  project: row.project,
  environment: row.environment ?? undefined,
  images: row.images,
  timeoutSeconds: row.timeout_seconds,
  waitForAppSeconds: row.wait_for_app_seconds,
  refresh: row.refresh,
  source: row.source ?? undefined,
  mayWrite: row.may_write,
  readerDigests: row.reader_digests ?? [],
  status: row.status,
  statusReason: row.status_reason ?? undefined,
  cause: row.cause ?? undefined,
  headline: row.diagnosis?.headline ?? row.headline ?? undefined,
  progress: row.progress ?? undefined,
  unmetCondition: firstUnmet(row.diagnosis?.conditions ?? row.conditions ?? [])?.name,
  diagnosis: row.diagnosis ?? undefined,
  appUrl: row.app_url ?? undefined,
  isRollback: row.is_rollback,
  rollbackTargetId: row.rollback_target_id ?? undefined,
  rollbackOf: row.rollback_of ?? undefined,
  commit: row.commit ?? undefined,
  repository: row.repository ?? undefined,
  branch: row.branch ?? undefined,
  previous: row.previous ?? undefined,
})
