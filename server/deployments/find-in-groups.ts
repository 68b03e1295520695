import { type Kysely, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { Schema } from '../storage/schema.ts'
import { newestHolds, newestTasks } from './newest-tasks.ts'
import {
  all,
  type FilterCondition,
  holdsPart,
  literal,
  nameConditions,
  ownConditions,
  timeConditions,
} from './task-filter-conditions.ts'

export type Found = {
  readonly count: number
  /** Not all tasks were compared, so there may be more. */
  readonly isCut: boolean
  /** One page of those found, newest first. Says nothing where `count` is above what was to be read. */
  readonly ids: readonly string[]
}

/** `read`: about so many tasks are read at most; undefined: all. */
type Page = { readonly read?: number; readonly offset: number; readonly limit: number }

/** What is a task's own is compared for fewer characters than trigrams have, but only of so many tasks, the newest. */
const trigramLength = 3
const comparedTasks = 10_000

/**
 * Finds tasks by the groups that have their names (decision 0191). Reads at most `read` tasks for each way to match, so
 * that it does not grow with the history, and of most only the index.
 */
export async function findInGroups(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  { read, offset, limit }: Page,
): Promise<Found> {
  const part = filter.search ?? ''
  const isShort = part !== '' && [...part].length < trigramLength
  const newest = newestTasks(query, filter, globs, isShort ? comparedTasks + 1 : 0)
  const ways = [
    inGroups(query, filter, globs),
    ...(isShort ? [sql`SELECT id, created FROM newest WHERE ${newestHolds(query, part)}`] : []),
    ...(part !== '' && !isShort
      ? [inOwnTexts(query, filter, part, globs), ...overColons(query, filter, part, globs)]
      : []),
  ]
  const limited = ways.map((way) => (read === undefined ? sql`(${way})` : sql`(${way} LIMIT ${read + 1})`))
  const { rows } = await sql<{ count: string; compared: string; ids: string[] }>`
    WITH newest AS MATERIALIZED (${newest}), found AS (${sql.join(limited, sql` UNION `)})
    SELECT (SELECT count(*) FROM found) AS count, (SELECT count(*) FROM newest) AS compared,
      ARRAY(SELECT id FROM found ORDER BY created DESC, id DESC LIMIT ${limit} OFFSET ${offset}) AS ids`.execute(query)
  const [row] = rows
  if (!row) throw new Error('looking for tasks in groups gave no row')
  return { count: Number(row.count), isCut: Number(row.compared) > comparedTasks, ids: row.ids }
}

/** By the names that the tasks of a group share. */
function inGroups(query: Kysely<Schema>, filter: TaskFilter, globs: readonly string[] | undefined) {
  const matching = filter.search ? [isLike('searched', filter.search)] : []
  const isOne = isOfGroups(query, [...nameConditions(filter, globs), ...matching])
  return query
    .selectFrom('tasks')
    .select(['id', 'created'])
    .where(all([isOne, ...ownConditions(filter)]))
}

/** By what is a task's own. */
function inOwnTexts(query: Kysely<Schema>, filter: TaskFilter, part: string, globs: readonly string[] | undefined) {
  const names = nameConditions(filter, globs)
  const isOne = [isLike(ownText, enoughOf(part)), ...(names.length > 0 ? [isOfGroups(query, names)] : [])]
  return query
    .selectFrom('task_searches')
    .select(['id', 'created'])
    .where(all([...isOne, holdsPart(part), ...timeConditions(filter), ...statusConditions(query, filter)]))
}

/** Over the end of an image's name and the beginning of its tag. */
function overColons(query: Kysely<Schema>, filter: TaskFilter, part: string, globs: readonly string[] | undefined) {
  return partsAround(part).map(([name, tag]) => {
    const isOne = isOfGroups(query, [...nameConditions(filter, globs), isLike('searched', `${name}\n`)])
    if (tag.length < trigramLength) {
      const isHeld = all([isOne, newestHolds(query, part), ...ownConditions(filter)])
      return query.selectFrom('tasks as newest').select(['id', 'created']).where(isHeld)
    }
    const isHeld = [isOne, isLike(ownText, tag), holdsPart(part)]
    return query
      .selectFrom('task_searches')
      .select(['id', 'created'])
      .where(all([...isHeld, ...timeConditions(filter), ...statusConditions(query, filter)]))
  })
}

function isOfGroups(query: Kysely<Schema>, names: readonly FilterCondition[]) {
  const groups = query.selectFrom('task_groups').select('id').where(all(names))
  return sql<SqlBool>`group_id = ANY(ARRAY(${groups}))`
}

/** Looked up for the few that hold the part. */
function statusConditions(query: Kysely<Schema>, { status }: TaskFilter): FilterCondition[] {
  const found = query.selectFrom('tasks').select('status').where(sql<SqlBool>`tasks.id = task_searches.id`)
  return status === undefined ? [] : [sql<SqlBool>`(${found}) = ${status}`]
}

/** What of `searched` is the task's own; the trigram index is on this expression. */
const ownText = sql<string>`split_part(searched, E'\\x02', 2)`

const isLike = (column: typeof ownText | 'searched', part: string): FilterCondition =>
  sql<SqlBool>`${column === 'searched' ? sql.ref(column) : column} LIKE lower(${`%${literal(part)}%`})`

/** The end of a long id or commit has few trigrams and is as rare as the whole. */
const enoughOf = (part: string) => (/^[0-9a-f-]+$/i.test(part) ? part.slice(-12) : part)

const partsAround = (text: string): [string, string][] =>
  [...text.matchAll(/:/g)].map(({ index }) => [text.slice(0, index), text.slice(index + 1)])
