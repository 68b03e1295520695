import { type RawBuilder, sql } from 'kysely'
import type { Diagnosis } from '../../contract/diagnosis.ts'
import { renderReport } from '../../contract/render-diagnosis.ts'
import { createBatcher } from '../concurrency/batch.ts'
import type { Database } from '../storage/database.ts'
import { toStoredJson } from '../storage/stored-json.ts'
import type { Claim, TaskResult } from './task.ts'
import { isUnfinished } from './task-conditions.ts'
import { type EndedRow, type EndedTask, endedOf } from './task-row.ts'

/** An end of a task, for its owner by a claim, or whoever owns it. */
type EndRequest = { readonly taskId: string; readonly claim: Claim | undefined; readonly end: TaskResult }

/** The end of a task that was cancelled, with the text that says why. */
export const cancelledAs = (diagnosis: Diagnosis): TaskResult => ({
  status: 'cancelled',
  ...(diagnosis.cause === undefined ? {} : { cause: diagnosis.cause }),
  reason: renderReport('cancelled', diagnosis, 0),
  diagnosis,
})

const endedTogether = 200
/** The second batch is on its way while the first one waits for the disk. */
const batchesAtOnce = 2

/** Gives the function that writes an end, once, with its event; `undefined` where the claim was gone or the task had ended. */
export function createFinishTask(database: Database) {
  const finish = createBatcher((all: readonly EndRequest[]) => endTasks(database.query, database.settings, all), {
    atMost: endedTogether,
    atOnce: batchesAtOnce,
    keyOf: ({ taskId }) => taskId,
  })
  return (claim: Claim, end: TaskResult): Promise<EndedTask | undefined> => finish({ taskId: claim.taskId, claim, end })
}

type Ended = EndedRow & { readonly status: EndedTask['status'] }

/**
 * Ends unfinished tasks, each with its event, in one statement. Locks them in the order in which progress is saved.
 */
export async function endTasks(
  query: Parameters<RawBuilder<unknown>['execute']>[0],
  { schema }: Pick<Database['settings'], 'schema'>,
  endings: readonly EndRequest[],
): Promise<(EndedTask | undefined)[]> {
  const table = (name: 'tasks' | 'task_events' | 'task_pod_logs') => sql.id(schema, name)
  const { rows } = await sql<Ended>`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${toStoredJson(endings.map(givenOf))}::jsonb) AS given (id uuid, owner uuid,
        fence bigint, status text, cause text, reason text, diagnosis jsonb, verdict text, pod text, lines jsonb)
    ), held AS (
      SELECT given.* FROM given
      JOIN ${table('tasks')} AS tasks ON tasks.id = given.id AND ${isUnfinished}
        AND (given.owner IS NULL OR (tasks.owner = given.owner AND tasks.fence = given.fence))
      ORDER BY tasks.app, tasks.id FOR UPDATE OF tasks
    ), ended AS (
      UPDATE ${table('tasks')} AS tasks SET status = held.status, cause = held.cause, status_reason = held.reason,
        diagnosis = CASE WHEN held.owner IS NULL THEN held.diagnosis || ${found} ELSE coalesce(held.diagnosis, tasks.diagnosis) END,
        progress = NULL, updated = clock_timestamp()
      FROM held WHERE tasks.id = held.id
      RETURNING tasks.id, tasks.app, tasks.status, tasks.created, tasks.updated, tasks.app_url, tasks.cause
    ), recorded AS (
      INSERT INTO ${table('task_events')} (task_id, kind, detail)
      SELECT id, 'verdict', verdict FROM held JOIN ended USING (id)
    ), logged AS (
      INSERT INTO ${table('task_pod_logs')} (task_id, pod, lines)
      SELECT id, pod, ARRAY(SELECT jsonb_array_elements_text(lines)) FROM held JOIN ended USING (id) WHERE pod IS NOT NULL
    )
    SELECT * FROM ended`.execute(query)
  const ended = new Map(rows.map((row) => [row.id, endedOf(row, row.status)]))
  return endings.map(({ taskId }) => ended.get(taskId))
}

/** What was found out before a task was cancelled stays; why it ended and what to do comes from the end. */
const found = sql`coalesce(tasks.diagnosis - '{cause,headline,culprit,pods,next_steps}'::text[], '{}')`

const givenOf = ({ taskId, claim, end }: EndRequest) => ({
  id: taskId,
  owner: claim?.owner,
  fence: claim?.fence,
  status: end.status,
  cause: end.cause,
  reason: end.reason,
  diagnosis: end.diagnosis,
  verdict: end.reason ? `${end.status}: ${end.reason.split('\n', 1)[0]}` : end.status,
  pod: end.podLog?.pod,
  lines: end.podLog?.lines,
})
