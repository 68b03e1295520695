import { type Selectable, sql } from 'kysely'
import type { TaskEvent } from '../../contract/task-event.ts'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'
import type { PageStart } from './event-followers.ts'

/** Rows that get their position in one statement. */
const numberedAtOnce = 5_000

/**
 * All numbering of events, and all reading, over the connections of readers; the code that changes a task writes them, in
 * the same transaction.
 */
export function createEventStore(database: Database, { query }: Database = database) {
  const { settings } = database

  return {
    /**
     * Gives committed events their position, by the function number_events of the schema (decision 0020).
     * @returns the tasks whose events were numbered, and whether none may be left without a position
     */
    async number(): Promise<{ taskIds: ReadonlySet<string>; isAll: boolean }> {
      const { rows } = await sql<{ tasks: readonly string[] }>`
        SELECT ${sql.id(settings.schema, 'number_events')}(${numberedAtOnce}) AS tasks`.execute(database.query)
      const tasks = rows[0]?.tasks ?? []
      return { taskIds: new Set(tasks), isAll: tasks.length < numberedAtOnce }
    },

    async newest(): Promise<number> {
      const { last } = await query.selectFrom('event_counter').select('last').executeTakeFirstOrThrow()
      return Number(last)
    },

    /** The highest id that retention has deleted: who has read less far has missed events. */
    async deletedTo(): Promise<number> {
      const { deleted_to } = await query.selectFrom('event_counter').select('deleted_to').executeTakeFirstOrThrow()
      return Number(deleted_to)
    },

    /** The id of the event that tells the task's end; undefined while it goes on. A push under way may be told after it. */
    async verdictOf(taskId: string): Promise<number | undefined> {
      const row = await query
        .selectFrom('task_events')
        .select('position')
        .where('task_id', '=', taskId)
        .where('kind', '=', 'verdict')
        .where('position', 'is not', null)
        .executeTakeFirst()
      return row ? Number(row.position) : undefined
    },

    /** The first events of a task, in order, also those without a position yet; for each kind the index that has it. */
    async ofTask(taskId: string, limit: number): Promise<TaskEvent[]> {
      const { rows } = await sql<Selectable<Schema['task_events']>>`
        SELECT * FROM ${sql.id(settings.schema, 'task_events')} WHERE task_id = ${taskId} AND position IS NOT NULL
        UNION ALL
        SELECT * FROM ${sql.id(settings.schema, 'task_events')} WHERE task_id = ${taskId} AND position IS NULL
        ORDER BY at, row_id LIMIT ${limit}`.execute(query)
      return rows.map(eventOf)
    },

    /** Events with a position above `after`, in order. */
    async after(after: number, limit: number, taskId?: string): Promise<TaskEvent[]> {
      const rows = await query
        .selectFrom('task_events')
        .selectAll()
        .where('position', '>', String(after))
        .$if(taskId !== undefined, (events) => events.where('task_id', '=', taskId ?? ''))
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map(eventOf)
    },

    /** For each start the events of its task with a position above `after`, in order; in one statement. */
    async pagesOfTasks(starts: readonly PageStart<string>[], limit: number): Promise<TaskEvent[][]> {
      const { rows } = await sql<Selectable<Schema['task_events']> & { readonly place: number }>`
        SELECT start.place::integer, page.*
        FROM unnest(${starts.map((start) => start.of)}::uuid[], ${starts.map(({ after }) => after)}::bigint[])
          WITH ORDINALITY AS start (task_id, after, place)
        CROSS JOIN LATERAL (
          SELECT * FROM ${sql.id(settings.schema, 'task_events')} AS event
          WHERE event.task_id = start.task_id AND event.position > start.after ORDER BY event.position LIMIT ${limit}
        ) AS page
        ORDER BY start.place, page.position`.execute(query)
      const pages = Map.groupBy(rows, ({ place }) => place)
      return starts.map((_start, at) => (pages.get(at + 1) ?? []).map(eventOf))
    },
  }
}
export type EventStore = ReturnType<typeof createEventStore>

const eventOf = (row: Selectable<Schema['task_events']>): TaskEvent => ({
  id: Number(row.position),
  task_id: row.task_id,
  at: row.at.getTime() / 1000,
  kind: row.kind,
  detail: row.detail,
  ...(row.data === null ? {} : { data: row.data }),
})
