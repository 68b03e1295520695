import { type Kysely, type Selectable, sql } from 'kysely'
import type { Delivery } from '../../../contract/notify/delivery.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import type { Database } from '../../storage/database.ts'
import type { Schema } from '../../storage/schema.ts'
import { onOneReplica } from '../../storage/transactions.ts'
import type { OutboxChange, RoutedTask } from '../targets/route-event.ts'

/** What one target is to be told of one task, while this replica sends it. */
export type ClaimedDelivery = {
  readonly id: string
  readonly taskId: string
  readonly event: NotificationEvent
  /** This one included. */
  readonly attempts: number
  readonly createdMs: number
  /** Of the message that earlier events of the task made at this target. */
  readonly reference: object | null
}

type Expand = (
  change: OutboxChange,
  task: RoutedTask,
) => { readonly event: NotificationEvent; readonly targets: readonly string[] } | undefined

const expandedAtOnce = 200
const maxListed = 1_000
/** A replica that died keeps a delivery no longer than that. */
const claimSeconds = 45
const keptDays = 7

/** All SQL of what is told. */
export function createNotificationStore({ query, settings: { schema } }: Database) {
  const deliveries = sql.id(schema, 'deliveries')
  return {
    /** Turns changes of tasks into deliveries, in the order in which they were written. @returns how many there were */
    async expand(routesOf: Expand): Promise<number> {
      const expanded = await onOneReplica(query, 'expansion of the outbox', async (transaction) => {
        const changes = await takeChanges(transaction, schema)
        const rows = changes.flatMap(({ task_id, change, ...task }) => {
          const routed = routesOf(change, {
            app: task.app,
            status: task.status,
            mayWrite: task.may_write,
            previousStatus: task.previous_status ?? undefined,
          })
          return (routed?.targets ?? []).map((target) => ({ task_id, target, event: routed?.event ?? '' }))
        })
        if (rows.length > 0) await transaction.insertInto('deliveries').values(rows).execute()
        return changes.length
      })
      return expanded ?? 0
    },

    /** Targets that have something due. */
    async dueTargets(): Promise<string[]> {
      const rows = await query
        .selectFrom('deliveries')
        .select('target')
        .distinct()
        .where('state', '=', 'due')
        .where(sql<boolean>`next_attempt_at <= clock_timestamp()`)
        .execute()
      return rows.map(({ target }) => target)
    },

    /** Takes what is due for a target: of a task the first one, so that the order stays. */
    async claim(target: string, limit: number): Promise<ClaimedDelivery[]> {
      const { rows } = await sql<ClaimedDelivery>`
        UPDATE ${deliveries} AS deliveries
        SET claimed_until = clock_timestamp() + make_interval(secs => ${claimSeconds}), attempts = attempts + 1
        WHERE id IN (
          SELECT id FROM ${deliveries} AS due
          WHERE target = ${target} AND state = 'due' AND next_attempt_at <= clock_timestamp()
            AND coalesce(claimed_until < clock_timestamp(), true)
            AND NOT EXISTS (
              SELECT FROM ${deliveries} AS earlier
              WHERE earlier.task_id = due.task_id AND earlier.target = due.target AND earlier.state = 'due'
                AND earlier.place < due.place
            )
          ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        RETURNING id, task_id AS "taskId", event, attempts, date_part('epoch', created) * 1000 AS "createdMs", (
          SELECT reference FROM ${deliveries} AS earlier
          WHERE earlier.task_id = deliveries.task_id AND earlier.target = deliveries.target AND earlier.reference IS NOT NULL
          ORDER BY earlier.place DESC LIMIT 1
        ) AS reference`.execute(query)
      return rows
    },

    sent: (id: string, reference?: object): Promise<void> => end(id, 'sent', null, reference),
    dead: (id: string, error: string, reference?: object): Promise<void> => end(id, 'dead', error, reference),

    async forget(id: string): Promise<void> {
      await query.deleteFrom('deliveries').where('id', '=', id).execute()
    },

    async retryLater(id: string, afterMs: number, error: string, reference?: object): Promise<void> {
      await query
        .updateTable('deliveries')
        .set({
          next_attempt_at: sql`clock_timestamp() + make_interval(secs => ${afterMs / 1_000})`,
          claimed_until: null,
          last_error: error,
          ...(reference === undefined ? {} : { reference: JSON.stringify(reference) }),
          updated: sql`clock_timestamp()`,
        })
        .where('id', '=', id)
        .where('state', '=', 'due')
        .execute()
    },

    /** Those of a state, newest first. */
    async list(state: Delivery['state'] | undefined): Promise<Delivery[]> {
      const rows = await query
        .selectFrom('deliveries')
        .selectAll()
        .$if(state !== undefined, (all) => all.where('state', '=', state ?? 'due'))
        .orderBy('place', 'desc')
        .limit(maxListed)
        .execute()
      return rows.map(shown)
    },

    /** Makes a dead one due again, with all its attempts. @returns it; undefined if there is none with this id */
    async retry(id: string): Promise<Delivery | undefined> {
      const row = await query
        .updateTable('deliveries')
        .set({
          state: 'due',
          attempts: 0,
          next_attempt_at: sql`clock_timestamp()`,
          created: sql`clock_timestamp()`,
          updated: sql`clock_timestamp()`,
        })
        .where('id', '=', id)
        .where('state', '=', 'dead')
        .returningAll()
        .executeTakeFirst()
      return row && shown(row)
    },

    /** Ends what is due for a target that the configuration file names no more. */
    async drop(target: string): Promise<void> {
      await query
        .updateTable('deliveries')
        .set({
          state: 'dead',
          last_error: 'the configuration file names no such target',
          updated: sql`clock_timestamp()`,
        })
        .where('target', '=', target)
        .where('state', '=', 'due')
        .execute()
    },

    /** How long the oldest one waits that is due, in seconds. */
    async oldestDueSeconds(): Promise<number> {
      const row = await query
        .selectFrom('deliveries')
        .select(sql<number>`coalesce(date_part('epoch', clock_timestamp() - min(created)), 0)`.as('seconds'))
        .where('state', '=', 'due')
        .executeTakeFirstOrThrow()
      return row.seconds
    },

    async deleteOld(): Promise<void> {
      await query
        .deleteFrom('deliveries')
        .where('state', '=', 'sent')
        .where(sql<boolean>`updated < clock_timestamp() - make_interval(days => ${keptDays})`)
        .execute()
    },
  }

  async function end(id: string, state: 'sent' | 'dead', error: string | null, reference?: object): Promise<void> {
    await query
      .updateTable('deliveries')
      .set({
        state,
        last_error: error,
        claimed_until: null,
        ...(reference === undefined ? {} : { reference: JSON.stringify(reference) }),
        updated: sql`clock_timestamp()`,
      })
      .where('id', '=', id)
      .where('state', '=', 'due')
      .execute()
  }
}
export type NotificationStore = ReturnType<typeof createNotificationStore>

const shown = (row: Selectable<Schema['deliveries']>): Delivery => ({
  id: row.id,
  task_id: row.task_id,
  target: row.target,
  event: row.event,
  state: row.state,
  attempts: row.attempts,
  ...(row.state === 'due' ? { next_attempt: row.next_attempt_at.getTime() / 1000 } : {}),
  ...(row.last_error === null ? {} : { last_error: row.last_error }),
  created: row.created.getTime() / 1000,
})

type Change = {
  readonly task_id: string
  readonly change: OutboxChange
  readonly app: string
  readonly status: RoutedTask['status']
  readonly may_write: boolean
  readonly previous_status: RoutedTask['status'] | null
}

/** With what routes look at. What was cancelled or aborted says nothing about an application. */
async function takeChanges(transaction: Kysely<Schema>, schema: string): Promise<Change[]> {
  const outbox = sql.id(schema, 'outbox')
  const tasks = sql.id(schema, 'tasks')
  const { rows } = await sql<Change & { id: string }>`
    WITH taken AS (
      DELETE FROM ${outbox} WHERE id IN (
        SELECT id FROM ${outbox} ORDER BY id LIMIT ${expandedAtOnce}
      ) RETURNING id, task_id, change
    )
    SELECT taken.id, taken.task_id, taken.change, tasks.app, tasks.status, tasks.may_write, (
      SELECT before.status FROM ${tasks} AS before
      WHERE before.app = tasks.app AND before.created < tasks.created AND before.status IN ('deployed', 'failed')
      ORDER BY before.created DESC LIMIT 1
    ) AS previous_status
    FROM taken JOIN ${tasks} AS tasks ON tasks.id = taken.task_id ORDER BY taken.id`.execute(transaction)
  return rows
}
