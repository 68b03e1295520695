import { type RawBuilder, sql } from 'kysely'
import type { OutboxChange } from '../targets/route-event.ts'

/** The part of a statement that notes that each task of which `tasks`, an earlier part, has the `id` is to be told of. */
export const insertOutbox = (schema: string, tasks: string, change: OutboxChange): RawBuilder<unknown> => sql`
  INSERT INTO ${sql.id(schema, 'outbox')} (task_id, change) SELECT id, ${change} FROM ${sql.id(tasks)}`
