import type { Kysely } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { TaskCursor } from '../../contract/task-cursor.ts'
import type { Schema } from '../storage/schema.ts'
import type { Task } from './task.ts'
import { isAfter, isOfApps, matches } from './task-conditions.ts'
import { taskOf } from './task-row.ts'

/** Totals above this are not counted out. */
const countedTotal = 10_000
const largestPage = 1_000

export type TaskPage = {
  readonly tasks: readonly Task[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: TaskCursor | undefined
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
  const [rows, total] = await Promise.all([
    pageOf(query, filter, globs, limit + 1),
    filter.cursor === undefined ? totalOf(query, filter, globs) : undefined,
  ])
  const tasks = rows.slice(0, limit).map(taskOf)
  const last = rows.length > limit ? tasks.at(-1) : undefined
  return { tasks, next: last && { createdMs: last.created.getTime(), id: last.id }, total }
}

const pageOf = (
  query: Kysely<Schema>,
  { cursor, offset, ...filter }: TaskFilter,
  globs: readonly string[] | undefined,
  limit: number,
) =>
  query
    .selectFrom('tasks')
    .selectAll()
    .where(matches(filter))
    .$if(globs !== undefined, (tasks) => tasks.where(isOfApps(globs ?? [])))
    .$if(cursor !== undefined, (tasks) => (cursor ? tasks.where(isAfter(cursor)) : tasks))
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset ?? 0)
    .execute()

async function totalOf(query: Kysely<Schema>, filter: TaskFilter, globs: readonly string[] | undefined) {
  const counted = query
    .selectFrom('tasks')
    .select('id')
    .where(matches(filter))
    .$if(globs !== undefined, (tasks) => tasks.where(isOfApps(globs ?? [])))
    .limit(countedTotal + 1)
  const { total } = await query
    .selectFrom(counted.as('counted'))
    .select((build) => build.fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow()
  const count = Number(total)
  return { count: Math.min(count, countedTotal), isCapped: count > countedTotal }
}
