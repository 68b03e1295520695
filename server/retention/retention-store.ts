import { type Kysely, sql } from 'kysely'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'
import { onOneReplica } from '../storage/transactions.ts'

const batchSize = 1_000
/** Fewer, since each has many rows: takes PostgreSQL a few milliseconds. */
const taskBatchSize = 100

/** Up to where tasks were checked, oldest first. */
export type Place = { readonly created: Date; readonly id: string }
export const firstPlace: Place = { created: new Date(0), id: '00000000-0000-0000-0000-000000000000' }

type Batch = {
  readonly deleted: number
  /** Where the next batch begins; undefined after the last one. */
  readonly next?: Place | undefined
}

/**
 * All SQL that deletes what is kept long enough: a batch at a time, each in a transaction of its own, on one replica at a time.
 * Each function returns undefined while another replica deletes.
 */
export function createRetentionStore({ query, settings }: Database) {
  const inTurn = <Result>(work: (transaction: Kysely<Schema>) => Promise<Result>) =>
    onOneReplica(query, 'retention', work)
  return {
    /** Checks the next tasks after `place`; deletes with their events, logs and writes those that ended so long ago. */
    deleteTasks: (days: number, place: Place): Promise<Batch | undefined> =>
      inTurn(async (transaction) => {
        const checked = await oldTasksAfter(transaction, days, place)
        const last = checked.at(-1)
        const ids = checked.filter(({ is_expired }) => is_expired).map(({ id }) => id)
        if (ids.length > 0) await deleteWithEvents(transaction, settings.schema, ids)
        return { deleted: ids.length, next: checked.length < taskBatchSize ? undefined : last }
      }),

    /** Applications that Argo CD has shown and that no task names any more. */
    deleteNames: (): Promise<Batch | undefined> =>
      inTurn(async (transaction) => {
        const unused = transaction
          .selectFrom('confirmed_applications')
          .select('app')
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('tasks').whereRef('tasks.app', '=', 'confirmed_applications.app'))),
          )
          .limit(batchSize)
        const { numDeletedRows } = await transaction
          .deleteFrom('confirmed_applications')
          .where('app', 'in', unused)
          .executeTakeFirst()
        return batchOf(Number(numDeletedRows))
      }),

    /** Deploy tokens that expired or were revoked so long ago. */
    deleteTokens: (days: number): Promise<Batch | undefined> =>
      inTurn(async (transaction) => {
        const ended = transaction
          .selectFrom('deploy_tokens')
          .select('id')
          .where(sql<boolean>`least(expires, revoked) < ${before(days)}`)
          .limit(batchSize)
        const { numDeletedRows } = await transaction
          .deleteFrom('deploy_tokens')
          .where('id', 'in', ended)
          .executeTakeFirst()
        return batchOf(Number(numDeletedRows))
      }),

    /** By the function of the schema's owner: the service itself may not delete entries. */
    deleteAudit: (days: number): Promise<Batch | undefined> =>
      inTurn(async (transaction) => {
        const { rows } = await sql<{ deleted: number }>`
          SELECT ${sql.id(settings.schema, 'delete_old_audit')}(${days}, ${batchSize}) AS deleted`.execute(transaction)
        return batchOf(rows[0]?.deleted ?? 0)
      }),
  }
}
export type RetentionStore = ReturnType<typeof createRetentionStore>

/** A full batch may have left some. */
const batchOf = (deleted: number): Batch => ({ deleted, next: deleted < batchSize ? undefined : firstPlace })

/** Stable within a statement, which an index can be searched by. */
const before = (days: number) => sql<Date>`now() - make_interval(days => ${days})`

/** The next tasks of that age, and which of them may go: none that is unfinished, nor the last one that an application deployed. */
const oldTasksAfter = (query: Kysely<Schema>, days: number, { created, id }: Place) =>
  query
    .selectFrom('tasks')
    .select(['id', 'created'])
    .select(({ exists, or, and, selectFrom }) =>
      and([
        sql<boolean>`ended IS NOT NULL AND ended < ${before(days)}`,
        or([
          sql<boolean>`status <> 'deployed'`,
          exists(
            selectFrom('tasks as newer')
              .whereRef('newer.app', '=', 'tasks.app')
              .where('newer.status', '=', 'deployed')
              .where(sql<boolean>`(newer.created, newer.id) > (tasks.created, tasks.id)`),
          ),
        ]),
      ]).as('is_expired'),
    )
    .where('created', '<', before(days))
    .where(sql<boolean>`(created, id) > (${created}, ${id})`)
    .orderBy('created')
    .orderBy('id')
    .limit(taskBatchSize)
    .execute()

/**
 * The counter comes last: who numbers events waits for it until the commit, which does not wait for the disk. What a crash
 * undoes is deleted again.
 */
async function deleteWithEvents(query: Kysely<Schema>, schema: string, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ newest: string | null }>`
    WITH gone AS (
      DELETE FROM ${sql.id(schema, 'task_events')} WHERE task_id = ANY (${ids}::uuid[]) AND position IS NOT NULL
      RETURNING position
    )
    SELECT max(position) AS newest, set_config('synchronous_commit', 'off', true) FROM gone`.execute(query)
  await query.deleteFrom('tasks').where(sql<boolean>`id = ANY (${ids}::uuid[])`).execute()
  const newest = rows[0]?.newest ?? '0'
  await query.updateTable('event_counter').set({ deleted_to: newest }).where('deleted_to', '<', newest).execute()
}
