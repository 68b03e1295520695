import { type Kysely, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { Schema } from '../storage/schema.ts'
import { all, holdsPart, nameConditions, ownConditions } from './task-filter-conditions.ts'

/** The newest tasks that match in all but `search`. */
export const newestTasks = (
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
) =>
  query
    .selectFrom('tasks')
    .select(['id', 'created'])
    .where(all([...nameConditions(filter, globs), ...ownConditions(filter)]))
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)

/** Whether the task of the row of `newest` holds the part; one look into the primary key. */
export const newestHolds = (query: Kysely<Schema>, part: string) => {
  const holds = query
    .selectFrom('task_searches')
    .select(sql<boolean>`${holdsPart(part)}`.as('holds'))
    .where(sql<SqlBool>`(task_searches.created, task_searches.id) = (newest.created, newest.id)`)
  return sql<SqlBool>`(${holds})`
}
