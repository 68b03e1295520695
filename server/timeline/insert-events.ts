import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../storage/schema.ts'
import { toStoredJson } from '../storage/stored-json.ts'
import type { NewTaskEvent } from './task-event.ts'

/**
 * The part of a statement that stores events, in their order, for each task of which `tasks`, an earlier part, has the `id`:
 * an event is written by the statement that makes it true.
 */
export const insertEvents = (
  schema: string,
  tasks: string,
  events: readonly NewTaskEvent[],
): RawBuilder<unknown> => sql`
  INSERT INTO ${sql.id(schema, 'task_events')} (task_id, kind, detail, data)
  SELECT changed.id, event.kind, event.detail, event.data
  FROM ${sql.id(tasks)} AS changed, ROWS FROM (jsonb_to_recordset(${toStoredJson(events)}::jsonb)
    AS (kind text, detail text, data jsonb)) WITH ORDINALITY AS event (kind, detail, data, place)
  ORDER BY event.place`

type EventsOfTask = { readonly taskId: string; readonly events: readonly NewTaskEvent[] }

/** Stores events of several tasks, for what is no statement of its own. */
export async function appendEvents(query: Kysely<Schema>, tasks: readonly EventsOfTask[]): Promise<void> {
  const rows = tasks.flatMap(({ taskId, events }) =>
    events.map(({ data, ...event }) => ({ task_id: taskId, ...event, data: data ? JSON.stringify(data) : null })),
  )
  if (rows.length > 0) await query.insertInto('task_events').values(rows).execute()
}
