import { type RawBuilder, sql } from 'kysely'
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
