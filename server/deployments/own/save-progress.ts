import { type RawBuilder, sql } from 'kysely'
import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { insertTaskChange } from '../../notify/outbox/insert-outbox.ts'
import type { Database } from '../../storage/database.ts'
import { toStoredJson } from '../../storage/stored-json.ts'
import { insertEvents } from '../../timeline/insert-events.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { isUnfinished } from '../read/task-predicates.ts'
import type { Claim } from '../task.ts'

/** What is kept of an unfinished task: what it waits for, where it is seen, what it began with, and what happened. */
export type TaskUpdate = { readonly change: TaskChange; readonly events: readonly NewTaskEvent[] }

type TaskChange = {
  readonly progress?: string
  readonly diagnosis?: Diagnosis
  readonly appUrl?: string
  readonly externalUrl?: string
  /** Where the submission names none. */
  readonly environment?: string
  /** Targets that the application adds to those of the routes. */
  readonly notify?: object
  /** By its annotation; counts where the submission says nothing. */
  readonly onFailure?: 'rollback' | 'none'
  readonly baseline?: object
}

/** Stores an update in one statement; `isTold`: targets are to be told of a start. @returns whether the claim still holds */
export async function saveProgress(
  { query, settings: { schema } }: Database,
  claim: Claim,
  { progress, diagnosis, appUrl, externalUrl, environment, notify, onFailure, baseline }: TaskUpdate['change'],
  events: TaskUpdate['events'],
  isTold = false,
): Promise<boolean> {
  const set = [
    sql`updated = clock_timestamp()`,
    ...(progress === undefined ? [] : [sql`progress = ${progress}`]),
    ...(diagnosis === undefined ? [] : [sql`diagnosis = ${toStoredJson(diagnosis)}::jsonb`]),
    ...(appUrl === undefined ? [] : [sql`app_url = ${appUrl}`]),
    ...(externalUrl === undefined ? [] : [sql`external_url = ${externalUrl}`]),
    ...(environment === undefined ? [] : [sql`environment = coalesce(environment, ${environment})`]),
    ...(notify === undefined ? [] : [sql`notify = ${toStoredJson(notify)}::jsonb`]),
    ...(onFailure === undefined ? [] : [sql`on_failure = coalesce(on_failure, ${onFailure})`]),
    ...(baseline === undefined ? [] : [sql`baseline = ${toStoredJson(baseline)}::jsonb`]),
  ]
  const { rows } = await sql`
    WITH saved AS (
      UPDATE ${sql.id(schema, 'tasks')} AS tasks SET ${sql.join(set)}
      WHERE id = ${claim.taskId} AND owner = ${claim.owner} AND fence = ${claim.fence} AND ${isUnfinished} RETURNING id, app
    )
    ${events.length === 0 ? sql`` : sql`, recorded AS (${insertEvents(schema, 'saved', events)})`}
    ${appUrl === undefined ? sql`` : sql`, confirmed AS (${confirmApplication(schema, 'saved')})`}
    ${appUrl === undefined || !isTold ? sql`` : sql`, told AS (${insertTaskChange(schema, 'saved', 'started')})`}
    SELECT id FROM saved`.execute(query)
  return rows.length > 0
}

/** The part of a statement that notes that Argo CD has shown the application of a task, which `tasks`, an earlier part, has. */
export const confirmApplication = (schema: string, tasks: string): RawBuilder<unknown> => sql`
  INSERT INTO ${sql.id(schema, 'confirmed_applications')} (app) SELECT app FROM ${sql.id(tasks)} ON CONFLICT DO NOTHING`
