import { sql } from 'kysely'
import type { Diagnosis } from '../../contract/diagnosis.ts'
import { createBatcher } from '../concurrency/batch.ts'
import type { Database } from '../storage/database.ts'
import { toStoredJson } from '../storage/stored-json.ts'
import type { NewTaskEvent } from '../timeline/task-event.ts'
import type { Claim } from './task.ts'
import { isUnfinished } from './task-conditions.ts'

type ProgressChange = {
  readonly progress?: string
  readonly diagnosis?: Diagnosis
  readonly appUrl?: string
  readonly baseline?: object
}
type Progress = { readonly claim: Claim; readonly change: ProgressChange; readonly events: readonly NewTaskEvent[] }

const savedTogether = 500
/** Under load the progress of many tasks is one statement. */
const minIntervalMs = 20

/** Gives the function that stores what a task waits for, its baseline and what was observed, and says whether the claim still holds. */
export function createSaveProgress(database: Database) {
  const save = createBatcher((all: readonly Progress[]) => saveAll(database, all), {
    atMost: savedTogether,
    atOnce: 1,
    keyOf: ({ claim }) => claim.taskId,
    minIntervalMs,
  })
  return (claim: Claim, change: ProgressChange, events: readonly NewTaskEvent[]): Promise<boolean> =>
    save({ claim, change, events })
}

/**
 * Locks the tasks in the order in which end-tasks.ts does. It does not wait for the disk: what a crash of PostgreSQL loses is
 * found again by the next evaluation, and an event has no reader before its number is on the disk.
 */
async function saveAll({ query, settings }: Database, all: readonly Progress[]): Promise<boolean[]> {
  const table = (name: 'tasks' | 'task_events' | 'confirmed_applications') => sql.id(settings.schema, name)
  const newEvents = all.flatMap(({ claim, events }) => events.map((event) => ({ ...event, taskId: claim.taskId })))
  const { rows } = await sql<{ id: string }>`
    WITH held AS (
      SELECT tasks.id, tasks.app, given.progress, given.diagnosis, given.app_url, given.baseline
      FROM unnest(${all.map(({ claim }) => claim.taskId)}::uuid[], ${all.map(({ claim }) => claim.owner)}::uuid[],
        ${all.map(({ claim }) => claim.fence)}::bigint[], ${all.map(({ change }) => change.progress ?? null)}::text[],
        ${all.map(({ change }) => jsonOf(change.diagnosis))}::jsonb[],
        ${all.map(({ change }) => change.appUrl ?? null)}::text[], ${all.map(({ change }) => jsonOf(change.baseline))}::jsonb[])
        AS given (id, owner, fence, progress, diagnosis, app_url, baseline)
      JOIN ${table('tasks')} AS tasks
        ON tasks.id = given.id AND tasks.owner = given.owner AND tasks.fence = given.fence AND ${isUnfinished}
      ORDER BY tasks.app, tasks.id FOR UPDATE OF tasks
    ), recorded AS (
      INSERT INTO ${table('task_events')} (task_id, kind, detail)
      SELECT held.id, event.kind, event.detail
      FROM held JOIN unnest(${newEvents.map(({ taskId }) => taskId)}::uuid[], ${newEvents.map(({ kind }) => kind)}::text[],
        ${newEvents.map(({ detail }) => detail)}::text[]) WITH ORDINALITY AS event (task_id, kind, detail, place)
        ON event.task_id = held.id
      ORDER BY event.place
    ), confirmed AS (
      INSERT INTO ${table('confirmed_applications')} (app)
      SELECT DISTINCT app FROM held WHERE app_url IS NOT NULL ORDER BY app ON CONFLICT DO NOTHING
    )
    UPDATE ${table('tasks')} AS tasks SET updated = clock_timestamp(),
      progress = coalesce(held.progress, tasks.progress), diagnosis = coalesce(held.diagnosis, tasks.diagnosis), app_url = coalesce(held.app_url, tasks.app_url),
      baseline = coalesce(held.baseline, tasks.baseline)
    FROM held WHERE tasks.id = held.id
    RETURNING tasks.id, set_config('synchronous_commit', 'off', true)`.execute(query)
  const saved = new Set(rows.map(({ id }) => id))
  return all.map(({ claim }) => saved.has(claim.taskId))
}

const jsonOf = (value: object | undefined) => (value === undefined ? null : toStoredJson(value))
