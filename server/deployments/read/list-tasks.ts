import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { Condition } from '../../../contract/diagnosis.ts'
import { largestPage, type TaskCursor, type TaskFilter } from '../../../contract/task.ts'
import { fillAnswer } from '../../http/limits/fill-answer.ts'
import type { Schema } from '../../storage/schema.ts'
import type { DeployedTask, Task } from '../task.ts'
import { listedColumns, taskOf } from '../task-row.ts'
import { narrowingFilters, readInTime } from './read-in-time.ts'
import { isUnsearchable, matchesFilter } from './task-filter-conditions.ts'
import { taskRecordOf } from './task-record.ts'

/** Totals above this are not counted out. */
const maxTotal = 10_000

export type TaskPage = {
  readonly tasks: readonly Task[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: TaskCursor | undefined
  /** It holds fewer tasks than were asked for, because more would not fit into an answer. */
  readonly isCut: boolean
  /** Absent where the page was asked for with a cursor. */
  readonly total: { readonly count: number; readonly isCapped: boolean } | undefined
}
/** Who reads a list: `globs`, the applications that they may see; all where there are none. */
export type ListReader = { readonly globs?: readonly string[] | undefined; readonly address: string }

type FoundTasks = { readonly ids: readonly string[]; readonly count: number }

/**
 * One page, newest first; with `globs` only of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function listTasks(
  query: Kysely<Schema>,
  filter: TaskFilter,
  { globs, address }: ListReader,
): Promise<TaskPage> {
  const limit = filter.limit ?? largestPage
  let found: FoundTasks = { ids: [], count: 0 }
  const find = async () => {
    if (!isUnsearchable(filter)) found = await findTasks(query, filter, globs, limit + 1)
    return inChunks(query, found.ids.slice(0, limit))
  }
  const { items: tasks, isCut } = await fillAnswer(address, find, taskRecordOf)
  const { ids, count } = found
  const last = ids.length > tasks.length ? tasks.at(-1) : undefined
  return {
    tasks,
    isCut,
    next: last && { createdMs: last.created.getTime(), id: last.id },
    total: filter.cursor ? undefined : { count: Math.min(count, maxTotal), isCapped: count > maxTotal },
  }
}

/**
 * Up to 10,000 matching tasks are all read and sorted, since walking through the newest for a few of them would read the
 * whole history. If there are more, the walk soon finds a page.
 */
async function findTasks(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
): Promise<FoundTasks> {
  const matching = query.selectFrom('tasks').select(['id', 'created']).where(matchesFilter(filter, globs))
  const page = sql`ORDER BY created DESC, id DESC LIMIT ${limit} OFFSET ${filter.offset ?? 0}`
  const find = sql<FoundTasks>`
    WITH found AS MATERIALIZED (${matching.limit(maxTotal + 1)}),
      counted AS MATERIALIZED (SELECT count(*)::integer AS count FROM found)
    SELECT count, CASE WHEN count <= ${maxTotal} THEN ARRAY(SELECT id FROM found ${page})
      ELSE ARRAY(SELECT id FROM (${matching}) AS matching ${page}) END AS ids
    FROM counted`
  const { rows } = await readInTime(query, filter.search ? 'search' : 'list', narrowingFilters(filter), (limited) =>
    find.execute(limited),
  )
  return rows[0] ?? { ids: [], count: 0 }
}

/** So many tasks at once are in memory of which none may fit into the answer. */
const chunkSize = 100

async function* inChunks(query: Kysely<Schema>, ids: readonly string[]): AsyncGenerator<readonly Task[]> {
  for (let at = 0; at < ids.length; at += chunkSize) yield await readListed(query, ids.slice(at, at + chunkSize))
}

const maxDeployedRead = 20

/** The deployed task before one with one of its images, of the last 20 of the application. */
const previousDeployment = (build: ExpressionBuilder<Schema, 'tasks'>) => {
  const deployed = build
    .selectFrom('tasks as earlier')
    .select(['id', 'images', 'repositories', 'created', 'ended'])
    .whereRef('earlier.app', '=', 'tasks.app')
    .whereRef('earlier.created', '<', 'tasks.created')
    .where('earlier.status', '=', 'deployed')
    .orderBy('earlier.created', 'desc')
    .limit(maxDeployedRead)
    .as('deployed')
  return build
    .selectFrom(deployed)
    .select(
      sql<DeployedTask>`json_build_object('id', id, 'images', images, 'ended', extract(epoch FROM ended))`.as('task'),
    )
    .where(sql<SqlBool>`deployed.repositories && tasks.repositories`)
    .orderBy('created', 'desc')
    .limit(1)
    .as('previous')
}

/** These tasks, newest first, as lists show them. */
export async function readListed(query: Kysely<Schema>, ids: readonly string[]): Promise<Task[]> {
  const rows = await query
    .selectFrom('tasks')
    .select(listedColumns)
    .select(sql<readonly Condition[] | null>`diagnosis -> 'conditions'`.as('conditions'))
    .select(sql<string | null>`diagnosis ->> 'headline'`.as('headline'))
    .select(previousDeployment)
    .where(sql<SqlBool>`id = ANY(${ids}::uuid[])`)
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(taskOf)
}
