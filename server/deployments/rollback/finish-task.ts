import { sql, type Transaction } from 'kysely'
import { causeOf } from '../../../contract/causes.ts'
import { repositoryOf } from '../../../contract/image-name.ts'
import type { Image } from '../../../contract/task.ts'
import type { LockdownCalendar } from '../../locks/evaluate-deploy-lock.ts'
import type { Database } from '../../storage/database.ts'
import type { Schema } from '../../storage/schema.ts'
import { appendEvents } from '../../timeline/insert-events.ts'
import { endTask } from '../own/end-task.ts'
import type { TaskUpdate } from '../own/save-progress.ts'
import { acceptRollback, lockApplication } from '../submit/accept-task.ts'
import type { Claim, TaskResult } from '../task.ts'
import { makeTaskId } from '../task-id.ts'
import type { EndedTask } from '../task-row.ts'
import { type FailedWrite, planRollback } from './plan-rollback.ts'

type Settings = {
  /** ON_FAILURE */
  readonly onFailure: 'rollback' | 'none'
  /** ROLLBACK_WHILE_LOCKED */
  readonly isAllowedWhileLocked: boolean
}

type Dependencies = {
  readonly database: Database
  readonly settings: Settings
  readonly calendarAround: (around: Date) => LockdownCalendar
  /** Targets are to be told of ends. */
  readonly isTold: () => boolean
}

const author = 'deployment-watcher'

/**
 * Writes the end of a task, once. Where its failure may mean a bad version, and its submission, application or ON_FAILURE
 * wants it, the task that takes its commit back is stored in the same transaction.
 * @returns undefined where the claim was gone or the task had ended
 */
export const createFinishTask =
  ({ database: { query, settings: schema }, settings, calendarAround, isTold }: Dependencies) =>
  (claim: Claim, end: TaskResult, unsaved?: TaskUpdate): Promise<EndedTask | undefined> => {
    const ending = { taskId: claim.taskId, claim, end, unsaved, isTold: isTold() }
    if (end.cause === undefined || causeOf(end.cause).rollsBack !== true) return endTask(query, schema, ending)
    return query.transaction().execute(async (transaction) => {
      const failed = await readFailed(transaction, claim.taskId)
      const onFailure = failed?.on_failure ?? unsaved?.change.onFailure ?? settings.onFailure
      if (failed === undefined || failed.rollback_of !== null || onFailure === 'none')
        return endTask(transaction, schema, ending)
      await lockApplication(transaction, failed.app) // before the row of the task, as submissions do
      const ended = await endTask(transaction, schema, ending)
      return ended && { ...ended, ...(await rollBack(transaction, failed)) }
    })

    async function rollBack(
      transaction: Transaction<Schema>,
      failed: Failed,
    ): Promise<Pick<EndedTask, 'rolledBackBy'>> {
      const planned = planRollback(
        failed.images,
        await readWrite(transaction, failed.id),
        await readDeployed(transaction, failed),
      )
      const id = makeTaskId(new Date())
      const refusal =
        'refusal' in planned
          ? planned.refusal
          : await acceptRollback(transaction, schema, {
              task: {
                id,
                app: failed.app,
                author,
                project: failed.project,
                environment: failed.environment ?? undefined,
                images: [...planned.images],
                source: undefined,
                timeoutSeconds: failed.timeout_seconds,
                waitForAppSeconds: 0,
                refresh: failed.refresh,
                mayWrite: true,
                rollbackTargetId: undefined,
                onFailure: 'none',
                submittedBy: { kind: 'service', id: null, name: null },
                pipeline: undefined,
                submitter: undefined,
                readerDigest: undefined,
                traceparent: undefined,
              },
              closed: calendarAround(new Date()),
              isAllowedWhileLocked: settings.isAllowedWhileLocked,
              of: failed.id,
              after: failed.created,
              target: planned.target,
            })
      const event =
        refusal === undefined
          ? { kind: 'note' as const, detail: `rolled back by ${id}`, data: { rolled_back_by: id } }
          : { kind: 'note' as const, detail: `not rolled back: ${refusal}` }
      await appendEvents(transaction, [{ taskId: failed.id, events: [event] }])
      return refusal === undefined ? { rolledBackBy: id } : {}
    }
  }

type Failed = NonNullable<Awaited<ReturnType<typeof readFailed>>>

const readFailed = (transaction: Transaction<Schema>, id: string) =>
  transaction
    .selectFrom('tasks')
    .select(['id', 'app', 'project', 'environment', 'images', 'created', 'timeout_seconds', 'refresh'])
    .select(['on_failure', 'rollback_of'])
    .where('id', '=', id)
    .executeTakeFirst()

/** What was committed for a task; undefined where nothing was. */
async function readWrite(transaction: Transaction<Schema>, id: string): Promise<FailedWrite | undefined> {
  const row = await transaction
    .selectFrom('pending_writes')
    .select(['plan', 'replaced'])
    .where('task_id', '=', id)
    .where('state', '=', 'landed')
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { entries } = row.plan as Pick<FailedWrite, 'entries'> // as the write-back stored it
  return { entries, replaced: row.replaced ?? {} }
}

/** The tasks before it that deployed one of its images, newest first; of each repository the newest is enough. */
async function readDeployed(transaction: Transaction<Schema>, { app, created, images }: Failed) {
  const deployed = new Map<string, { readonly id: string; readonly images: Image[] }>()
  for (const repository of new Set(images.map(({ image }) => repositoryOf(image)))) {
    const row = await transaction
      .selectFrom('tasks')
      .select(['id', 'images'])
      .where('app', '=', app)
      .where('status', '=', 'deployed')
      .where('created', '<', created)
      .where(sql<boolean>`${repository} = ANY (repositories)`)
      .orderBy('created', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) deployed.set(repository, row)
  }
  return deployed
}
