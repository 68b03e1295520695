import { type Kysely, sql } from 'kysely'
import { maxNames, type NameSearch, type TaskNames } from '../../contract/task-names.ts'
import type { Schema } from '../storage/schema.ts'
import { readInTime } from './read-in-time.ts'
import { contains, isInNoField, matchesOne, matchesSearch } from './task-filter-conditions.ts'

/** An installation has fewer names; callers may invent more. */
const maxSteps = 10_000
/** Where names cannot be gone through one by one, those of so many tasks are found. */
const maxTasks = 10_000

/**
 * Names that tasks have, sorted; with `globs` those of the newest tasks of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function findNames(
  query: Kysely<Schema>,
  { field, search = '' }: NameSearch,
  globs?: readonly string[],
): Promise<TaskNames> {
  if (isInNoField({ search })) return { names: [], has_more: false }
  const named = query.selectFrom('tasks').select(`${field} as name`)
  // By the index of the searched text, which finds more.
  const searched = named
    .where(matchesSearch(search))
    .where(contains(sql`lower(${sql.ref(field)})`, search))
    .limit(maxTasks)
  const first = named.orderBy(field).limit(1)
  const next = first.where(sql<boolean>`${sql.ref(field)} > steps.name`)
  const beyond = searched
    .where(sql<boolean>`(SELECT bool_and(name IS NOT NULL) FROM steps)`)
    .where(sql<boolean>`${sql.ref(field)} > (SELECT max(name) FROM steps)`)
  // From name to name in an index, however many tasks have each.
  const ofAll = sql`
    WITH RECURSIVE steps AS (
      SELECT name, 1 AS step FROM (${first}) AS first
      UNION ALL
      SELECT (${next}), step + 1 FROM steps WHERE name IS NOT NULL AND step < ${maxSteps}
    )
    SELECT name FROM steps WHERE name IS NOT NULL AND ${contains(sql`lower(name)`, search)}
    UNION ALL (SELECT DISTINCT name FROM (${beyond}) AS beyond ORDER BY name)`
  const inScope = (of: readonly string[]) =>
    sql`SELECT DISTINCT name FROM (${searched.where(matchesOne(of)).orderBy('created', 'desc')}) AS newest ORDER BY name`
  const { rows } = await readInTime(query, 'names', 'more characters', (limited) =>
    sql<{ name: string }>`${globs ? inScope(globs) : ofAll} LIMIT ${maxNames + 1}`.execute(limited),
  )
  return { names: rows.slice(0, maxNames).map(({ name }) => name), has_more: rows.length > maxNames }
}
