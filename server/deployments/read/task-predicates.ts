import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { finalStatuses } from '../../../contract/task-status.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Claim } from '../task.ts'

/** What a task must be to be read or changed. */
export type TaskPredicate = (build: ExpressionBuilder<Schema, 'tasks'>) => Expression<SqlBool>

export const hasNoLivingOwner: TaskPredicate = (build) =>
  build.or([
    build('owner', 'is', null),
    build.not(
      build.exists(build.selectFrom('replicas').select(sql`1`.as('one')).whereRef('replicas.id', '=', 'tasks.owner')),
    ),
  ])

export const isForgotten = (owner: string, forgotten: readonly string[]) =>
  sql<SqlBool>`(owner = ${owner} AND id = ANY(${forgotten}::uuid[]))`

/**
 * For tasks that are looked up by their ids. In words that no index has: until PostgreSQL counts them again it takes the
 * unfinished tasks for few, and would go through thousands of them rather than look one up.
 */
export const isUnfinished = sql<SqlBool>`tasks.status <> ALL(${[...finalStatuses]}::text[])`

export const heldBy =
  (claim: Claim): TaskPredicate =>
  (build) =>
    build.and([
      build('id', '=', claim.taskId),
      build('owner', '=', claim.owner),
      build('fence', '=', claim.fence),
      isUnfinished,
    ])
