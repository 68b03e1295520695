import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { TaskCursor } from '../../contract/task-cursor.ts'
import type { Schema } from '../storage/schema.ts'
import type { Claim } from './task.ts'

/** What a task must be to be read or changed. */
export type Condition = (build: ExpressionBuilder<Schema, 'tasks'>) => Expression<SqlBool>

export const hasNoLivingOwner: Condition = (build) =>
  build.or([
    build('owner', 'is', null),
    build.not(
      build.exists(build.selectFrom('replicas').select(sql`1`.as('one')).whereRef('replicas.id', '=', 'tasks.owner')),
    ),
  ])

export const isForgotten = (owner: string, watched: readonly string[]) =>
  sql<SqlBool>`(owner = ${owner} AND id <> ALL(${watched}::uuid[]))`

export const heldBy =
  (claim: Claim): Condition =>
  (build) =>
    build.and([
      build('id', '=', claim.taskId),
      build('owner', '=', claim.owner),
      build('fence', '=', claim.fence),
      build('status', '=', 'in progress'),
    ])

export const matches =
  (filter: TaskFilter): Condition =>
  (build) => {
    const conditions: Expression<SqlBool>[] = []
    for (const column of ['app', 'project', 'author', 'status'] as const) {
      const value = filter[column]
      if (value !== undefined) conditions.push(build(column, '=', value))
    }
    if (filter.from_timestamp !== undefined) conditions.push(build('created', '>', seconds(filter.from_timestamp)))
    if (filter.to_timestamp !== undefined) conditions.push(build('created', '<=', seconds(filter.to_timestamp)))
    if (filter.search) conditions.push(holds(filter.search))
    return build.and(conditions)
  }

/** Tasks of applications that one of the globs (`*`, `?`) matches. */
export const isOfApps = (globs: readonly string[]): Condition => {
  const patterns = globs.map((glob) =>
    glob
      .replace(/[\\%_]/g, '\\$&')
      .replaceAll('*', '%')
      .replaceAll('?', '_'),
  )
  return () => sql<SqlBool>`app LIKE ANY(${patterns}::text[])`
}

/** What comes behind the task of a cursor, newest first. */
export const isAfter =
  ({ createdMs, id }: TaskCursor): Condition =>
  () =>
    sql<SqlBool>`(created, id) < (${new Date(createdMs)}::timestamptz, ${id}::uuid)`

const seconds = (value: number) => sql<Date>`to_timestamp(${value}::double precision)::timestamptz(3)`

function holds(part: string): Expression<SqlBool> {
  const pattern = `%${part.replace(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`searched LIKE lower(${pattern})`
}
