import { type Kysely, sql } from 'kysely'
import type { TaskConditions } from '../../contract/task.ts'
import { maxCount, type TaskCounts } from '../../contract/task-counts.ts'
import { type TaskStatus, taskStatuses } from '../../contract/task-status.ts'
import type { Schema } from '../storage/schema.ts'
import { lessOf, readInTime } from './read-in-time.ts'
import { isInNoField, matchesFilter } from './task-filter-conditions.ts'

/**
 * How many tasks of each status match; with `globs` only of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function countTasks(
  query: Kysely<Schema>,
  conditions: TaskConditions,
  globs?: readonly string[],
): Promise<TaskCounts> {
  const found = isInNoField(conditions) ? [] : await readCounts(query, conditions, globs)
  const entries = taskStatuses.map((status, index) => [status, found[index] ?? 0] as const)
  const counts = Object.fromEntries(entries.map(([status, count]) => [status, Math.min(count, maxCount)]))
  return {
    counts: counts as Record<TaskStatus, number>,
    capped: entries.filter(([, count]) => count > maxCount).map(([status]) => status),
  }
}

/** Status by status, so that a frequent one is not counted out to find a rare one. */
async function readCounts(query: Kysely<Schema>, conditions: TaskConditions, globs?: readonly string[]) {
  const counted = taskStatuses.map((status) => {
    const matching = query
      .selectFrom('tasks')
      .select('id')
      .where(matchesFilter({ ...conditions, status }, globs))
    return sql`(SELECT count(*)::integer FROM (${matching.limit(maxCount + 1)}) AS matching)`
  })
  const count = sql<{ counts: number[] }>`SELECT ARRAY[${sql.join(counted)}] AS counts`
  const { rows } = await readInTime(query, 'counts', lessOf(conditions), (limited) => count.execute(limited))
  return rows[0]?.counts ?? []
}
