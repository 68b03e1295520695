import { type Kysely, sql } from 'kysely'
import { maxNames, type NameSearch, type TaskNames } from '../../../contract/task-names.ts'
import type { Schema } from '../../storage/schema.ts'
import { readInTime } from './read-in-time.ts'
import { contains, isUnsearchable, matchesFilter } from './task-filter-conditions.ts'

/**
 * Names that tasks have, sorted; with `globs` those of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function findNames(
  query: Kysely<Schema>,
  { field, search = '' }: NameSearch,
  globs?: readonly string[],
): Promise<TaskNames> {
  if (isUnsearchable({ search })) return { names: [], has_more: false }
  const names = query
    .selectFrom('tasks')
    .select(`${field} as name`)
    .distinct()
    .where(matchesFilter({}, globs))
    .offset(0) // keeps the search outside: names are fewer than tasks
  const find = sql<{ name: string }>`
    SELECT name FROM (${names}) AS names WHERE ${contains(sql`lower(name)`, search)} ORDER BY name LIMIT ${maxNames + 1}`
  const { rows } = await readInTime(query, 'names', 'the search of the list', (limited) => find.execute(limited))
  return { names: rows.slice(0, maxNames).map(({ name }) => name), has_more: rows.length > maxNames }
}
