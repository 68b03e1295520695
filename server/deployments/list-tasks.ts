import { type Kysely, type SqlBool, sql } from 'kysely'
import { largestPage, type TaskFilter } from '../../contract/task.ts'
import type { TaskCursor } from '../../contract/task-cursor.ts'
import { fillAnswer } from '../http/fill-answer.ts'
import type { Schema } from '../storage/schema.ts'
import { isGivenUp, withTimeLimit } from '../storage/time-limit.ts'
import { type Found, findInGroups } from './find-in-groups.ts'
import { comparedNewest, newestTasks } from './newest-tasks.ts'
import type { Task } from './task.ts'
import { ReadTimedOutError } from './task-errors.ts'
import { all, holdsPart, nameConditions, ownConditions } from './task-filter-conditions.ts'
import { taskRecordOf } from './task-record.ts'
import { taskOf } from './task-row.ts'

/** Totals above this are not counted out. */
const countedTotal = 10_000
/** So many of those that match are read to find the newest of them, and so many of the newest to find some that match. */
const readTasks = 12_000
/** Of each of the statements of a search, three at most. */
const searchLimitMs = 3_000
const searchLess = 'more characters, or an application, a project or a time'

export type TaskPage = {
  readonly tasks: readonly Task[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: TaskCursor | undefined
  /** It holds fewer tasks than were asked for, because more would not fit into an answer. */
  readonly isCut: boolean
  /** Absent where the page was asked for with a cursor. */
  readonly total: { readonly count: number; readonly isCapped: boolean } | undefined
}

/** One page, newest first; with `globs` only of the applications that they match. */
export async function listTasks(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs?: readonly string[],
): Promise<TaskPage> {
  const limit = filter.limit ?? largestPage
  const { ids, count, cut } = await finderFor(filter, globs)(query, filter, globs, limit + 1)
  const { items: tasks, isCut } = await fillAnswer(inChunks(query, ids.slice(0, limit)), taskRecordOf)
  const last = ids.length > tasks.length ? tasks.at(-1) : undefined
  return {
    tasks,
    isCut,
    next: last ? { createdMs: last.created.getTime(), id: last.id } : cut,
    total: filter.cursor
      ? undefined
      : { count: Math.min(count, countedTotal), isCapped: cut !== undefined || count > countedTotal },
  }
}

type FoundIds = Pick<Found, 'ids' | 'count'> & { readonly cut?: Found['cut'] }

const finderFor = (filter: TaskFilter, globs: readonly string[] | undefined) => {
  if (isInNoField(filter)) return nothing
  return isFoundInGroups(filter, globs) ? inTime : directly
}

/** No field may hold a control character; where searches look, line ends stand between the fields. */
const isInNoField = ({ search = '' }: TaskFilter) => /\p{Cc}/u.test(search)

const nothing = async (): Promise<FoundIds> => ({ ids: [], count: 0 })

/** One name alone has an index of its own that is in the order of the list. */
const isFoundInGroups = (filter: TaskFilter, globs: readonly string[] | undefined) =>
  Boolean(filter.search) || nameConditions(filter, globs).length > 1 || globs !== undefined

async function directly(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
): Promise<FoundIds> {
  const [ids, count] = await Promise.all([
    newestOf(query, filter, globs, limit),
    filter.cursor ? 0 : countOf(query, filter, globs),
  ])
  return { ids, count }
}

/** @throws {ReadTimedOutError} */
async function inTime(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
): Promise<FoundIds> {
  try {
    return await withTimeLimit(query, searchLimitMs, (limited) => throughGroups(limited, filter, globs, limit))
  } catch (cause) {
    throw isGivenUp(cause) ? new ReadTimedOutError('the search', searchLimitMs, searchLess, { cause }) : cause
  }
}

/** Where many match, most often some of the newest do; where these do not, all that match are read. */
async function throughGroups(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
): Promise<FoundIds> {
  const page = { offset: filter.offset ?? 0, limit }
  const found = await findInGroups(query, filter, globs, { ...page, read: readTasks })
  const { count, cut } = found
  if (count <= readTasks) return found
  const ids = await newestOf(query, filter, globs, limit)
  if (ids.length === limit) return { ids, count, cut }
  const whole = await findInGroups(query, filter, globs, page)
  return { ids: whole.ids, count, cut }
}

/** What an offset skips is skipped in an index. Of a search only among the newest `readTasks`. */
async function newestOf(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
): Promise<readonly string[]> {
  const { search, offset = 0 } = filter
  const newest = search
    ? sql`SELECT * FROM (${comparedNewest(query, filter, globs, readTasks, holdsPart(search))}) AS compared WHERE is_held`
    : newestTasks(query, filter, globs, offset + limit)
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM (${newest}) AS newest ORDER BY created DESC, id DESC LIMIT ${limit} OFFSET ${offset}`.execute(query)
  return rows.map(({ id }) => id)
}

/** So many tasks at once are in memory of which none may fit into the answer. */
const chunkSize = 100

async function* inChunks(query: Kysely<Schema>, ids: readonly string[]): AsyncGenerator<readonly Task[]> {
  for (let at = 0; at < ids.length; at += chunkSize) {
    const rows = await query
      .selectFrom('tasks')
      .selectAll()
      .where(sql<SqlBool>`id = ANY(${ids.slice(at, at + chunkSize)}::uuid[])`)
      .orderBy('created', 'desc')
      .orderBy('id', 'desc')
      .execute()
    yield rows.map(taskOf)
  }
}

async function countOf(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
): Promise<number> {
  const counted = query
    .selectFrom('tasks')
    .select('id')
    .where(all([...nameConditions(filter, globs), ...ownConditions(filter)]))
    .limit(countedTotal + 1)
  const { total } = await query
    .selectFrom(counted.as('counted'))
    .select((build) => build.fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}
