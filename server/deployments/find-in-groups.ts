import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { TaskCursor } from '../../contract/task-cursor.ts'
import type { Schema } from '../storage/schema.ts'
import { findOwn } from './find-own.ts'
import { comparedNewest } from './newest-tasks.ts'
import { all, holdsPart, isLike, nameConditions, ownConditions } from './task-filter-conditions.ts'

export type Found = {
  readonly count: number
  /** Where not all tasks were compared: the last one that was. `ids` go no further, `count` does for what names tell. */
  readonly cut: TaskCursor | undefined
  /** One page of those found, newest first; empty where `count` is above what was to be read. */
  readonly ids: readonly string[]
}

/** `read`: about so many tasks are read at most; undefined: all. */
type Page = { readonly read?: number; readonly offset: number; readonly limit: number }

/** What is a task's own is compared for fewer characters than trigrams have, but only of so many tasks, the newest. */
const trigramLength = 3
const comparedTasks = 10_000
/** To look more groups up than that takes longer than to go through the tasks that have not ended deployed. */
const manyGroups = 300

/**
 * Finds tasks by the groups that have their names (decision 0191). Reads at most `read` tasks for each way to match, so
 * that it does not grow with the history, and of most only the index. What is a task's own is looked at only where names
 * do not find more than that already, and only in tasks that these do not find, so that none is counted twice.
 */
export async function findInGroups(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  { read = Number.MAX_SAFE_INTEGER - 1, offset, limit }: Page,
): Promise<Found> {
  const part = filter.search ?? ''
  const isShort = part !== '' && [...part].length < trigramLength
  const isHeld = all([holdsPart(part), sql<SqlBool>`(group_id IN (SELECT id FROM matching)) IS FALSE`])
  const newest = comparedNewest(query, filter, globs, isShort ? comparedTasks + 1 : 0, isHeld)
  const { tables, ways } =
    part === '' || isShort
      ? { tables: [], ways: [sql`SELECT id, created FROM newest WHERE is_held`] }
      : findOwn(query, filter, globs, part)
  const limited = ways.map((way) => sql`(SELECT * FROM (${way}) AS way LIMIT ${read + 1})`)
  const { rows } = await sql<{ count: string; cut_created: Date | null; cut_id: string | null; ids: string[] }>`
    WITH matching AS MATERIALIZED (${matchingGroups(query, filter, globs)}),
      newest AS MATERIALIZED (${newest}),
      cut AS MATERIALIZED (SELECT created, id FROM newest ORDER BY created DESC, id DESC LIMIT 1 OFFSET ${comparedTasks}),
      named AS MATERIALIZED (${named(query, filter, read + 1)}),
      ${sql.join([...tables, sql``], sql`, `)}
      named_count AS MATERIALIZED (SELECT count(*) FROM named),
      own AS MATERIALIZED (
        SELECT id, created FROM (${sql.join(limited, sql` UNION `)}) AS ways WHERE (TABLE named_count) <= ${read}),
      counts AS MATERIALIZED (SELECT (TABLE named_count) + (SELECT count(*) FROM own) AS count)
    SELECT count, (SELECT created FROM cut) AS cut_created, (SELECT id FROM cut) AS cut_id, CASE WHEN count > ${read} THEN '{}' ELSE ARRAY(
      SELECT id FROM (SELECT id, created FROM named UNION ALL SELECT id, created FROM own) AS found
      WHERE NOT EXISTS (TABLE cut) OR (created, id) >= (SELECT created, id FROM cut)
      ORDER BY created DESC, id DESC LIMIT ${limit} OFFSET ${offset}) END AS ids
    FROM counts`.execute(query)
  const [row] = rows
  if (!row) throw new Error('looking for tasks in groups gave no row')
  const { count, cut_created: created, cut_id: id, ids } = row
  const cut = created === null || id === null ? undefined : { createdMs: created.getTime(), id }
  return { count: Number(count), cut, ids }
}

/** Those whose names match all that is asked of names. */
function matchingGroups(query: Kysely<Schema>, filter: TaskFilter, globs: readonly string[] | undefined) {
  const isFound = filter.search ? [isLike(sql.ref('searched'), filter.search)] : []
  return query
    .selectFrom('task_groups')
    .select('id')
    .where(all([...nameConditions(filter, globs), ...isFound]))
}

/**
 * By the names that the tasks of a group share, group after group until there are enough. Where these are many groups,
 * and few tasks have the status, through the tasks of this status, whose group is found by its hash.
 */
function named(query: Kysely<Schema>, filter: TaskFilter, limit: number): RawBuilder<unknown> {
  const tasks = query.selectFrom('tasks').select(['id', 'created'])
  const own = ownConditions(filter)
  const ofGroups = sql`SELECT one.id, one.created FROM matching CROSS JOIN LATERAL (
    ${tasks.where(all([sql<SqlBool>`group_id = matching.id`, ...own]))} OFFSET 0) AS one`
  if (filter.status === undefined || filter.status === 'deployed') return sql`${ofGroups} LIMIT ${limit}`
  const isLargeInstallation = sql<SqlBool>`(SELECT count(*) FROM (SELECT FROM matching LIMIT ${manyGroups + 1}) AS counted) > ${manyGroups}`
  const ofStatus = tasks.where(
    all([sql<SqlBool>`(group_id IN (SELECT id FROM matching)) IS TRUE`, isLargeInstallation, ...own]),
  )
  return sql`(${ofGroups} WHERE NOT ${isLargeInstallation} LIMIT ${limit}) UNION ALL (${ofStatus} LIMIT ${limit})`
}
