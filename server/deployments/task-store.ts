import { type Expression, type ExpressionBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Image, TaskFilter, TaskSubmission } from '../../contract/task.ts'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'
import type { NewTaskEvent } from '../timeline/task-event.ts'
import type { Claim, Task, TaskEnd } from './task.ts'

export type NewTask = Pick<TaskSubmission, 'app' | 'author' | 'project' | 'images' | 'source'> & {
  readonly id: string
  readonly timeoutSeconds: number
  readonly refresh: boolean
  readonly mayWrite: boolean
}

/** A task this replica has just claimed. `remainingMs` is what the database's clock leaves of its time, maybe below 0. */
export type ClaimedTask = {
  readonly task: Task
  readonly claim: Claim
  readonly remainingMs: number
  readonly baseline: object | undefined
}

/** Totals above this are not counted out. */
const countedTotal = 10_000

/** All SQL of the tasks and of the events that their changes write. */
export function createTaskStore(database: Database) {
  const { query } = database

  return {
    /** Inserts the task and cancels the unfinished ones it supersedes, in one transaction. */
    insert: (task: NewTask) =>
      query.transaction().execute(async (transaction) => {
        // Tasks of one application are accepted one after another, so that of two at once exactly one survives.
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${task.app}, 0))`.execute(transaction)
        const superseded = await transaction
          .with('ended', (with_) =>
            with_
              .updateTable('tasks')
              .set({
                status: 'cancelled',
                cause: 'superseded',
                status_reason: `superseded by task ${task.id}`,
                progress: null,
                updated: sql`clock_timestamp()`,
              })
              .where('app', '=', task.app)
              .where('status', '=', 'in progress')
              .where(sharesAnImage(task.images))
              .$if(!task.mayWrite, (tasks) => tasks.where('may_write', '=', false))
              .returning('id'),
          )
          .insertInto('task_events')
          .columns(['task_id', 'kind', 'detail'])
          .expression((build) => eventsOf(build.selectFrom('ended').select('id'), verdictOf('cancelled', task.id)))
          .returning('task_id as id')
          .execute()
        await transaction
          .insertInto('tasks')
          .values({
            id: task.id,
            app: task.app,
            author: task.author,
            project: task.project,
            images: JSON.stringify(task.images),
            source: task.source ? JSON.stringify(task.source) : null,
            timeout_seconds: task.timeoutSeconds,
            deadline: sql`clock_timestamp() + make_interval(secs => ${task.timeoutSeconds})`,
            refresh: task.refresh,
            may_write: task.mayWrite,
          })
          .execute()
        const events: NewTaskEvent[] = [{ kind: 'accepted', detail: acceptedText(task) }]
        if (superseded.length > 0) {
          events.push({ kind: 'superseded_others', detail: `superseded ${superseded.map(({ id }) => id).join(', ')}` })
        }
        await transaction
          .insertInto('task_events')
          .values(events.map((event) => ({ task_id: task.id, ...event })))
          .execute()
        return { superseded: superseded.map(({ id }) => id) }
      }),

    async find(id: string): Promise<Task | undefined> {
      const row = await query.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()
      return row && taskOf(row)
    },

    async list(filter: TaskFilter): Promise<{ tasks: Task[]; total: number; totalIsCapped: boolean }> {
      const matching = query.selectFrom('tasks').where(matches(filter))
      const rows = await matching
        .selectAll()
        .orderBy('created', 'desc')
        .orderBy('id', 'desc')
        .limit(filter.limit ?? 1000)
        .offset(filter.offset ?? 0)
        .execute()
      const counted = await query
        .selectFrom(
          matching
            .select('id')
            .limit(countedTotal + 1)
            .as('matching'),
        )
        .select((build) => build.fn.countAll<string>().as('total'))
        .executeTakeFirstOrThrow()
      const total = Number(counted.total)
      return { tasks: rows.map(taskOf), total: Math.min(total, countedTotal), totalIsCapped: total > countedTotal }
    },

    /**
     * Claims unfinished tasks whose owner is nobody or dead, oldest first. With `watched` also those of the owner itself
     * that are not among them, which it must have lost from memory.
     */
    async claim(owner: string, limit: number, watched?: readonly string[]): Promise<ClaimedTask[]> {
      const rows = await query
        .with('free', (with_) =>
          with_
            .selectFrom('tasks')
            .select('id')
            .where('status', '=', 'in progress')
            .where((build) => build.or([hasNoLivingOwner(build), ...(watched ? [isForgotten(owner, watched)] : [])]))
            .orderBy('created')
            .limit(limit)
            .forUpdate()
            .skipLocked(),
        )
        .updateTable('tasks')
        .from('free')
        .whereRef('tasks.id', '=', 'free.id')
        .set({ owner, fence: sql`tasks.fence + 1` })
        .returningAll('tasks')
        .returning(remainingMs.as('remaining_ms'))
        .execute()
      return rows.map((row) => claimedOf(row, owner))
    },

    /** Moves everything that `former`, an earlier id of this same replica, owned to its new id. */
    async takeBack(former: string, owner: string): Promise<ClaimedTask[]> {
      const rows = await query
        .updateTable('tasks')
        .set({ owner, fence: sql`fence + 1` })
        .where('owner', '=', former)
        .where('status', '=', 'in progress')
        .returningAll()
        .returning(remainingMs.as('remaining_ms'))
        .execute()
      return rows.map((row) => claimedOf(row, owner))
    },

    /** Gives up all of this replica's unfinished tasks, for others to claim. @returns their ids */
    async release(owner: string): Promise<string[]> {
      const rows = await query
        .updateTable('tasks')
        .set({ owner: null })
        .where('owner', '=', owner)
        .where('status', '=', 'in progress')
        .returning('id')
        .execute()
      return rows.map(({ id }) => id)
    },

    /** @returns whether the claim still holds */
    async saveBaseline(claim: Claim, baseline: object): Promise<boolean> {
      const { numUpdatedRows } = await query
        .updateTable('tasks')
        .set({ baseline: JSON.stringify(baseline) })
        .where(heldBy(claim))
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Stores what the task waits for and what was observed. @returns whether the claim still holds */
    async saveProgress(
      claim: Claim,
      change: { readonly progress?: string; readonly appUrl?: string },
      events: readonly NewTaskEvent[],
    ): Promise<boolean> {
      return query.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('tasks')
          .set({
            updated: sql`clock_timestamp()`,
            ...(change.progress === undefined ? {} : { progress: change.progress }),
            ...(change.appUrl === undefined ? {} : { app_url: change.appUrl }),
          })
          .where(heldBy(claim))
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        if (events.length > 0) {
          await transaction
            .insertInto('task_events')
            .values(events.map((event) => ({ task_id: claim.taskId, ...event })))
            .execute()
        }
        return true
      })
    },

    /** Writes the end, once, with its event. @returns whether the claim still held and the task was unfinished */
    async finish(claim: Claim, end: TaskEnd): Promise<boolean> {
      const written = await query
        .with('ended', (with_) =>
          with_
            .updateTable('tasks')
            .set({
              status: end.status,
              cause: end.cause ?? null,
              status_reason: end.reason ?? null,
              progress: null,
              updated: sql`clock_timestamp()`,
            })
            .where(heldBy(claim))
            .returning('id'),
        )
        .insertInto('task_events')
        .columns(['task_id', 'kind', 'detail'])
        .expression((build) =>
          eventsOf(build.selectFrom('ended').select('id'), { kind: 'verdict', detail: verdictText(end) }),
        )
        .returning('task_id')
        .execute()
      return written.length > 0
    },

    /** Those of `ids` that have ended. */
    async ended(ids: readonly string[]): Promise<string[]> {
      const rows = await query
        .selectFrom('tasks')
        .select('id')
        .where('id', 'in', ids)
        .where('status', '<>', 'in progress')
        .execute()
      return rows.map(({ id }) => id)
    },

    async countUnfinished(): Promise<number> {
      const { unfinished } = await query
        .selectFrom('tasks')
        .select((build) => build.fn.countAll<string>().as('unfinished'))
        .where('status', '=', 'in progress')
        .executeTakeFirstOrThrow()
      return Number(unfinished)
    },
  }
}
export type TaskStore = ReturnType<typeof createTaskStore>

type Condition = (build: ExpressionBuilder<Schema, 'tasks'>) => Expression<SqlBool>

const remainingMs = sql<string>`extract(epoch FROM tasks.deadline - clock_timestamp()) * 1000`

const hasNoLivingOwner: Condition = (build) =>
  build.or([
    build('owner', 'is', null),
    build.not(
      build.exists(build.selectFrom('replicas').select(sql`1`.as('one')).whereRef('replicas.id', '=', 'tasks.owner')),
    ),
  ])

const isForgotten = (owner: string, watched: readonly string[]) =>
  sql<SqlBool>`(owner = ${owner} AND id <> ALL(${watched}::uuid[]))`

const heldBy =
  (claim: Claim): Condition =>
  (build) =>
    build.and([
      build('id', '=', claim.taskId),
      build('owner', '=', claim.owner),
      build('fence', '=', claim.fence),
      build('status', '=', 'in progress'),
    ])

const sharesAnImage = (images: readonly Image[]) => {
  const names = images.map(({ image }) => image)
  return sql<SqlBool>`EXISTS (
    SELECT 1 FROM jsonb_array_elements(images) AS wanted WHERE wanted->>'image' = ANY(${names}::text[]))`
}

const matches =
  (filter: TaskFilter): Condition =>
  (build) => {
    const conditions: Expression<SqlBool>[] = []
    for (const column of ['app', 'project', 'author', 'status'] as const) {
      const value = filter[column]
      if (value !== undefined) conditions.push(build(column, '=', value))
    }
    if (filter.from_timestamp !== undefined) conditions.push(build('created', '>', seconds(filter.from_timestamp)))
    if (filter.to_timestamp !== undefined) conditions.push(build('created', '<=', seconds(filter.to_timestamp)))
    if (filter.search) conditions.push(holds(filter.search))
    return build.and(conditions)
  }

const seconds = (value: number) => sql<Date>`to_timestamp(${value}::double precision)::timestamptz(3)`

function holds(part: string): Expression<SqlBool> {
  const pattern = `%${part.replace(/[\\%_]/g, '\\$&')}%`
  return sql<SqlBool>`concat_ws(E'\n', app, author, project, images::text, id::text, commit) ILIKE ${pattern}`
}

const eventsOf = (ids: Expression<{ id: string }>, event: NewTaskEvent) =>
  sql<never>`SELECT id, ${event.kind}, ${event.detail} FROM ${ids} AS ended`

const verdictOf = (status: string, by: string): NewTaskEvent => ({
  kind: 'verdict',
  detail: `${status}: superseded by task ${by}`,
})

const verdictText = ({ status, reason }: TaskEnd) => (reason ? `${status}: ${reason.split('\n', 1)[0]}` : status)

const acceptedText = ({ images, author, mayWrite }: NewTask) =>
  `accepted from ${author} ${mayWrite ? 'with' : 'without'} a credential: ` +
  images.map(({ image, tag }) => `${image}:${tag}`).join(', ')

const claimedOf = (row: Selectable<Schema['tasks']> & { remaining_ms: string }, owner: string): ClaimedTask => ({
  task: taskOf(row),
  claim: { taskId: row.id, owner, fence: row.fence },
  remainingMs: Number(row.remaining_ms),
  baseline: row.baseline ?? undefined,
})

const taskOf = (row: Selectable<Schema['tasks']>): Task => ({
  id: row.id,
  created: row.created,
  updated: row.updated,
  deadline: row.deadline,
  app: row.app,
  author: row.author,
  project: row.project,
  images: row.images,
  timeoutSeconds: row.timeout_seconds,
  refresh: row.refresh,
  source: row.source ?? undefined,
  mayWrite: row.may_write,
  status: row.status,
  statusReason: row.status_reason ?? undefined,
  cause: row.cause ?? undefined,
  progress: row.progress ?? undefined,
  appUrl: row.app_url ?? undefined,
  isRollback: row.is_rollback,
  rollbackTargetId: row.rollback_target_id ?? undefined,
  commit: row.commit ?? undefined,
  repository: row.repository ?? undefined,
  branch: row.branch ?? undefined,
})
