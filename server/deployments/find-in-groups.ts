import { type Kysely, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { Schema } from '../storage/schema.ts'
import {
  all,
  type FilterCondition,
  holdsPart,
  literal,
  nameConditions,
  ownConditions,
} from './task-filter-conditions.ts'

export type Found = {
  /** How many match; one more than was to be counted says that there are more. */
  readonly count: number
  /** One page of them, newest first; says nothing where there are more than were to be counted. */
  readonly ids: readonly string[]
}

type Page = { readonly counted: number; readonly offset: number; readonly limit: number }

/**
 * Finds tasks by the groups that have their names (decision 0191). Reads at most `counted` tasks for each way to match, so
 * that it does not grow with the history, and of most only the index.
 */
export async function findInGroups(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  { counted, offset, limit }: Page,
): Promise<Found> {
  const ways = waysToMatch(query, filter, globs).map(
    (way) =>
      sql`(${query
        .selectFrom('tasks')
        .select(['id', 'created'])
        .where(way)
        .limit(counted + 1)})`,
  )
  const { rows } = await sql<{ count: string; ids: string[] }>`
    WITH found AS (${sql.join(ways, sql` UNION `)})
    SELECT (SELECT count(*) FROM found) AS count,
      ARRAY(SELECT id FROM found ORDER BY created DESC, id DESC LIMIT ${limit} OFFSET ${offset}) AS ids`.execute(query)
  const [row] = rows
  if (!row) throw new Error('looking for tasks in groups gave no row')
  return { count: Number(row.count), ids: row.ids }
}

/** Together they find all tasks that match, some of them twice. */
function waysToMatch(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
): FilterCondition[] {
  const { search } = filter
  const [names, own] = [nameConditions(filter, globs), ownConditions(filter)]
  const inGroups = (...ofGroup: FilterCondition[]) => {
    const groups = query
      .selectFrom('task_groups')
      .select('id')
      .where(all([...names, ...ofGroup]))
    return all([sql<SqlBool>`group_id = ANY(ARRAY(${groups}))`, ...own])
  }
  if (!search) return [inGroups()]
  return [
    inGroups(isLike('searched', search)),
    all([isLike(ownText, enoughOf(search)), holdsPart(search), ...names, ...own]),
    // the end of an image's name and the beginning of its tag
    ...partsAround(search).map(([name, tag]) =>
      all([inGroups(isLike('searched', `${name}\n`)), isLike(ownText, tag), holdsPart(search)]),
    ),
  ]
}

/** What of `searched` is the task's own; the trigram index is on this expression. */
const ownText = sql<string>`split_part(searched, E'\\x02', 2)`

const isLike = (column: typeof ownText | 'searched', part: string): FilterCondition =>
  sql<SqlBool>`${column === 'searched' ? sql.ref(column) : column} LIKE lower(${`%${literal(part)}%`})`

/** The end of a long id or commit has few trigrams and is as rare as the whole. */
const enoughOf = (part: string) => (/^[0-9a-f-]+$/i.test(part) ? part.slice(-12) : part)

const partsAround = (text: string): [string, string][] =>
  [...text.matchAll(/:/g)].map(({ index }) => [text.slice(0, index), text.slice(index + 1)])
