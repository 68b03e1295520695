import { type Kysely, sql } from 'kysely'
import type { TaskFilterFields } from '../../../contract/task.ts'
import { maxCount, type TaskCounts } from '../../../contract/task-counts.ts'
import { type TaskStatus, taskStatuses } from '../../../contract/task-status.ts'
import type { Schema } from '../../storage/schema.ts'
import { narrowingFilters, readInTime } from './read-in-time.ts'
import { isUnsearchable, matchesFilter } from './task-filter-conditions.ts'

/**
 * How many tasks of each status match; with `globs` only of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function countTasks(
  query: Kysely<Schema>,
  conditions: TaskFilterFields,
  globs?: readonly string[],
): Promise<TaskCounts> {
  const found = isUnsearchable(conditions) ? [] : await readCounts(query, conditions, globs)
  const entries = taskStatuses.map((status, index) => [status, found[index] ?? 0] as const)
  const counts = Object.fromEntries(entries.map(([status, count]) => [status, Math.min(count, maxCount)]))
  return {
    counts: counts as Record<TaskStatus, number>,
    capped: entries.filter(([, count]) => count > maxCount).map(([status]) => status),
  }
}

/** Where no more than this match in all, one read counts every status; the caps together allow as many. */
const maxAtOnce = taskStatuses.length * maxCount

async function readCounts(query: Kysely<Schema>, conditions: TaskFilterFields, globs?: readonly string[]) {
  const matching = query.selectFrom('tasks').where(matchesFilter(conditions, globs))
  // Status by status, so that a frequent one is not counted out to find a rare one.
  const each = taskStatuses.map((status) => {
    const some = matching
      .where('status', '=', status)
      .select('id')
      .limit(maxCount + 1)
    return sql`(SELECT count(*)::integer FROM (${some}) AS matching)`
  })
  const ofFound = taskStatuses.map((status) => sql`(count(*) FILTER (WHERE status = ${status}))::integer`)
  // A search is what takes time, so it is done once if that is enough.
  const count = conditions.search
    ? sql<{ counts: number[] }>`
        SELECT CASE WHEN total <= ${maxAtOnce} THEN counts ELSE ARRAY[${sql.join(each)}] END AS counts
        FROM (SELECT count(*) AS total, ARRAY[${sql.join(ofFound)}] AS counts
          FROM (${matching.select('status').limit(maxAtOnce + 1)}) AS matching) AS found`
    : sql<{ counts: number[] }>`SELECT ARRAY[${sql.join(each)}] AS counts`
  const { rows } = await readInTime(query, 'counts', narrowingFilters(conditions), (limited) => count.execute(limited))
  return rows[0]?.counts ?? []
}
