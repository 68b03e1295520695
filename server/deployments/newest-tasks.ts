import { type Kysely, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { Schema } from '../storage/schema.ts'
import { all, type FilterCondition, nameConditions, ownConditions, timeConditions } from './task-filter-conditions.ts'

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

/**
 * The same, each with `is_held`: whether a condition on its row of `searchable_tasks` holds. Where nothing but times is asked,
 * these rows are read in their own order, else each is looked up, which costs several times as much.
 */
export const comparedNewest = (
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
  condition: FilterCondition,
) =>
  filter.status === undefined && nameConditions(filter, globs).length === 0
    ? query
        .selectFrom('searchable_tasks')
        .select(['id', 'created', sql<boolean>`${condition}`.as('is_held')])
        .where(all(timeConditions(filter)))
        .orderBy('created', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
    : query
        .selectFrom(newestTasks(query, filter, globs, limit).as('newest'))
        .select(['id', 'created', holdsFor(query, 'newest', condition).as('is_held')])

/** A condition on the row of `searchable_tasks` that belongs to a row of `name`; one look into the primary key. */
export const holdsFor = (query: Kysely<Schema>, name: string, condition: FilterCondition) => {
  const holds = query
    .selectFrom('searchable_tasks')
    .select(sql<boolean>`${condition}`.as('holds'))
    .where(
      sql<SqlBool>`(searchable_tasks.created, searchable_tasks.id) = (${sql.id(name, 'created')}, ${sql.id(name, 'id')})`,
    )
  return sql<SqlBool>`(${holds})`
}
