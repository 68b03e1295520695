import { type Selectable, sql } from 'kysely'
import type { TaskEvent } from '../../contract/task-event.ts'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'

/** Rows that get their position in one transaction. */
const numberedAtOnce = 5_000

/** All reading and numbering of events; they are written by whoever changes a task, in the same transaction. */
export function createEventStore(database: Database) {
  const { query } = database

  return {
    /**
     * Gives committed events their position, in one short transaction at a time over all replicas (decision 0092).
     * @returns the ids of the tasks whose events were numbered
     */
    number: (): Promise<string[]> =>
      query.transaction().execute(async (transaction) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = '2s'`.execute(transaction)
        const { last } = await transaction
          .selectFrom('event_counter')
          .select('last')
          .forUpdate()
          .executeTakeFirstOrThrow()
        const numbered = await transaction
          .with('waiting', (with_) =>
            with_
              .selectFrom('task_events')
              .select(['row_id', sql<string>`${last}::bigint + row_number() OVER (ORDER BY row_id)`.as('place')])
              .where('position', 'is', null)
              .orderBy('row_id')
              .limit(numberedAtOnce),
          )
          .updateTable('task_events')
          .from('waiting')
          .whereRef('task_events.row_id', '=', 'waiting.row_id')
          .set((build) => ({ position: build.ref('waiting.place') }))
          .returning('task_id')
          .execute()
        if (numbered.length > 0) {
          await transaction
            .updateTable('event_counter')
            .set({ last: sql`last + ${numbered.length}` })
            .execute()
        }
        return numbered.map(({ task_id }) => task_id)
      }),

    async hasUnnumbered(): Promise<boolean> {
      const row = await query
        .selectFrom('task_events')
        .select('row_id')
        .where('position', 'is', null)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async newest(): Promise<number> {
      const { last } = await query.selectFrom('event_counter').select('last').executeTakeFirstOrThrow()
      return Number(last)
    },

    /** The id of the task's last event; undefined while the task goes on. */
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
  }
}
export type EventStore = ReturnType<typeof createEventStore>

const eventOf = (row: Selectable<Schema['task_events']>): TaskEvent => ({
  id: Number(row.position),
  task_id: row.task_id,
  at: row.at.getTime() / 1000,
  kind: row.kind,
  detail: row.detail,
})
