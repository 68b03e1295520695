import { type RawBuilder, sql } from 'kysely'
import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { renderReport } from '../../../contract/text/render-diagnosis.ts'
import { insertTaskChange } from '../../notify/outbox/insert-outbox.ts'
import type { Database } from '../../storage/database.ts'
import { toStoredJson } from '../../storage/stored-json.ts'
import { insertEvents } from '../../timeline/insert-events.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { isUnfinished } from '../read/task-predicates.ts'
import type { Claim, TaskResult } from '../task.ts'
import { type EndedRow, type EndedTask, endedOf } from '../task-row.ts'
import { confirmApplication, type TaskUpdate } from './save-progress.ts'

/** An end of a task, for its owner by a claim, or for the current owner. `unsaved`: what the owner had still to save of it. */
type EndRequest = {
  readonly taskId: string
  readonly claim: Claim | undefined
  readonly end: TaskResult
  readonly unsaved?: TaskUpdate | undefined
  /** Targets are to be told of it. */
  readonly isTold: boolean
}

/** The end of a task that was cancelled, with the text that says why. */
export const cancelledAs = (diagnosis: Diagnosis): TaskResult => ({
  status: 'cancelled',
  ...(diagnosis.cause === undefined ? {} : { cause: diagnosis.cause }),
  reason: renderReport('cancelled', diagnosis, 0),
  diagnosis,
})

/** Ends an unfinished task with its event, in one statement; `undefined` where the claim was gone or the task had ended. */
export async function endTask(
  query: Parameters<RawBuilder<unknown>['execute']>[0],
  { schema }: Pick<Database['settings'], 'schema'>,
  { taskId, claim, end, unsaved, isTold }: EndRequest,
): Promise<EndedTask | undefined> {
  const diagnosis = sql`${end.diagnosis === undefined ? null : toStoredJson(end.diagnosis)}::jsonb`
  const { events = [], change: { appUrl, externalUrl, environment, notify, onFailure } = {} } = unsaved ?? {}
  const isOwned = claim && sql`AND owner = ${claim.owner} AND fence = ${claim.fence}`
  const { rows } = await sql<EndedRow>`
    WITH ended AS (
      UPDATE ${sql.id(schema, 'tasks')} AS tasks SET status = ${end.status}, cause = ${end.cause ?? null},
        status_reason = ${end.reason ?? null}, diagnosis = ${claim === undefined ? sql`${diagnosis} || ${found}` : sql`coalesce(${diagnosis}, diagnosis)`},
        app_url = coalesce(${appUrl ?? null}, app_url), external_url = coalesce(${externalUrl ?? null}, external_url),
        environment = coalesce(environment, ${environment ?? null}),
        notify = coalesce(${notify === undefined ? null : toStoredJson(notify)}::jsonb, notify), on_failure = coalesce(on_failure, ${onFailure ?? null}), progress = NULL, updated = clock_timestamp()
      WHERE id = ${taskId} AND ${isUnfinished} ${isOwned ?? sql``}
      RETURNING id, app, created, updated, app_url, cause
    ), recorded AS (${insertEvents(schema, 'ended', [...events, verdictOf(end)])})
    ${appUrl === undefined ? sql`` : sql`, confirmed AS (${confirmApplication(schema, 'ended')})`}
    ${end.podLog === undefined ? sql`` : sql`, logged AS (${insertPodLog(schema, end.podLog)})`}
    ${isTold ? sql`, told AS (${insertTaskChange(schema, 'ended', 'ended')})` : sql``}
    SELECT * FROM ended`.execute(query)
  return rows[0] && endedOf(rows[0], end.status)
}

/** What was found out before a task was cancelled stays; why it ended and what to do comes from the end. */
const found = sql`coalesce(diagnosis - '{cause,headline,culprit,pods,next_steps}'::text[], '{}')`

const insertPodLog = (schema: string, { pod, lines }: NonNullable<TaskResult['podLog']>) => sql`
  INSERT INTO ${sql.id(schema, 'task_pod_logs')} (task_id, pod, lines)
  SELECT id, ${pod}, ARRAY(SELECT jsonb_array_elements_text(${toStoredJson(lines)}::jsonb)) FROM ended`

const verdictOf = ({ status, cause, reason }: TaskResult): NewTaskEvent => ({
  kind: 'verdict',
  detail: reason ? `${status}: ${reason.split('\n', 1)[0]}` : status,
  data: { status, ...(cause === undefined ? {} : { cause }) },
})
