import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Delivery, NotificationTarget } from '../../../contract/notify/delivery.ts'
import type { LockChange } from '../../../contract/notify/lock-change.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import { recordAction } from '../../audit/record-action.ts'
import type { Database } from '../../storage/database.ts'
import type { Schema } from '../../storage/schema.ts'
import { onOneReplica } from '../../storage/transactions.ts'
import type { OutboxChange, RoutedTask } from '../targets/route-event.ts'

/** What one target is to be told, while this replica sends it. */
export type ClaimedDelivery = {
  readonly id: string
  readonly subject:
    | { readonly kind: 'task'; readonly taskId: string; readonly event: NotificationEvent }
    | { readonly kind: 'lock'; readonly lock: LockChange }
  /** This one included. */
  readonly attempts: number
  readonly createdMs: number
  /** Of the message that earlier events of the task made at this target. */
  readonly reference: object | null
}

/** Who is told of what; undefined: nothing is told. */
export type Expand = {
  readonly task: (
    change: OutboxChange,
    task: RoutedTask,
  ) => { readonly event: NotificationEvent; readonly targets: readonly string[] } | undefined
  readonly lock: () => readonly string[]
}

const expandedAtOnce = 200
const maxListed = 1_000
const maxBlockedShown = 20
/** A replica that died keeps a delivery no longer than that. */
const claimSeconds = 45
const keptDays = 7

type Retry = { readonly error: string; readonly reference?: object | undefined; readonly isBlocked?: boolean }

/** All SQL of what is told. */
export function createNotificationStore({ query, settings: { schema } }: Database) {
  const deliveries = sql.id(schema, 'deliveries')
  return {
    /** Turns changes of tasks and of the lock into deliveries, in the order in which they were written. @returns how many there were */
    async expand(routesOf: Expand): Promise<number> {
      const expanded = await onOneReplica(query, 'expansion of the outbox', async (transaction) => {
        const changes = await takeChanges(transaction, schema)
        const rows = changes.flatMap((change) => deliveriesOf(change, routesOf))
        if (rows.length > 0) await transaction.insertInto('deliveries').values(rows).execute()
        return changes.length
      })
      return expanded ?? 0
    },

    /** Targets that have something due; `disabled`: the entry for which one was disabled. */
    dueTargets: (): Promise<{ readonly target: string; readonly disabled: string | null }[]> =>
      query
        .selectFrom('deliveries')
        .leftJoin('disabled_targets', 'disabled_targets.target', 'deliveries.target')
        .select(['deliveries.target', 'disabled_targets.entry as disabled'])
        .distinct()
        .where('state', '=', 'due')
        .where(sql<boolean>`next_attempt_at <= clock_timestamp()`)
        .execute(),

    /** Takes what is due for a target: of a task the first one, so that the order stays. */
    async claim(target: string, limit: number): Promise<ClaimedDelivery[]> {
      const { rows } = await sql<ClaimedRow>`
        UPDATE ${deliveries} AS deliveries
        SET claimed_until = clock_timestamp() + make_interval(secs => ${claimSeconds}), attempts = attempts + 1
        WHERE id IN (
          SELECT id FROM ${deliveries} AS due
          WHERE target = ${target} AND state = 'due' AND next_attempt_at <= clock_timestamp()
            AND coalesce(claimed_until < clock_timestamp(), true)
            AND NOT EXISTS (
              SELECT FROM ${deliveries} AS earlier
              WHERE (earlier.task_id = due.task_id OR (earlier.task_id IS NULL AND due.task_id IS NULL))
                AND earlier.target = due.target AND earlier.state = 'due' AND earlier.place < due.place
            )
          ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        RETURNING id, task_id, event, data, attempts, date_part('epoch', created) * 1000 AS "createdMs", (
          SELECT reference FROM ${deliveries} AS earlier
          WHERE earlier.task_id = deliveries.task_id AND earlier.target = deliveries.target AND earlier.reference IS NOT NULL
          ORDER BY earlier.place DESC LIMIT 1
        ) AS reference`.execute(query)
      return rows.map(claimedOf)
    },

    /** `why`: there was nothing to send. */
    sent: (id: string, reference?: object, why?: string): Promise<void> => end(id, 'sent', why ?? null, reference),
    dead: (id: string, error: string, reference?: object): Promise<void> => end(id, 'dead', error, reference),

    async forget(id: string): Promise<void> {
      await query.deleteFrom('deliveries').where('id', '=', id).execute()
    },

    async retryLater(id: string, afterMs: number, { error, reference, isBlocked = false }: Retry): Promise<void> {
      await query
        .updateTable('deliveries')
        .set({
          next_attempt_at: sql`clock_timestamp() + make_interval(secs => ${afterMs / 1_000})`,
          claimed_until: null,
          last_error: error,
          is_blocked: isBlocked,
          ...(reference === undefined ? {} : { reference: JSON.stringify(reference) }),
          updated: sql`clock_timestamp()`,
        })
        .where('id', '=', id)
        .where('state', '=', 'due')
        .execute()
    },

    /** What a person has to change before deliveries can be sent. */
    async blockedBy(): Promise<string[]> {
      const rows = await query
        .selectFrom('deliveries')
        .select(['target', 'last_error'])
        .distinct()
        .where('state', '=', 'due')
        .where('is_blocked', '=', true)
        .orderBy('target')
        .orderBy('last_error')
        .limit(maxBlockedShown)
        .execute()
      return rows.map(({ target, last_error: error }) => `${target}: ${error}`)
    },

    /** Deployments at a host that a target has for other tasks. */
    async takenDeployments(target: string, taskId: string): Promise<ReadonlySet<number>> {
      const rows = await query
        .selectFrom('deliveries')
        .select(sql<number>`(reference->>'deployment')::float8`.as('deployment'))
        .where('target', '=', target)
        .where('task_id', '<>', taskId)
        .where(sql<boolean>`reference ? 'deployment'`)
        .execute()
      return new Set(rows.map(({ deployment }) => deployment))
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

    /**
     * Makes one that is dead or off due again, with all its attempts, and its target no longer disabled.
     * @returns it; undefined if there is none with this id
     */
    async retry(id: string): Promise<Delivery | undefined> {
      const row = await query
        .with('enabled', (all) =>
          all
            .deleteFrom('disabled_targets')
            .where('target', 'in', ({ selectFrom }) =>
              selectFrom('deliveries').select('target').where('id', '=', id).where('state', 'in', ['dead', 'off']),
            ),
        )
        .updateTable('deliveries')
        .set({
          state: 'due',
          attempts: 0,
          next_attempt_at: sql`clock_timestamp()`,
          created: sql`clock_timestamp()`,
          updated: sql`clock_timestamp()`,
        })
        .where('id', '=', id)
        .where('state', 'in', ['dead', 'off'])
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

    /** Notes that a target wants nothing more, as it answered for a delivery; until its entry in the configuration changes. */
    disable: (target: string, entry: string, id: string, error: string): Promise<void> =>
      query.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('disabled_targets')
          .values({ target, entry, error })
          .onConflict((conflict) => conflict.column('target').doUpdateSet({ entry, error }))
          .execute()
        await transaction
          .updateTable('deliveries')
          .set({ state: 'off', last_error: error, claimed_until: null, updated: sql`clock_timestamp()` })
          .where('id', '=', id)
          .where('state', '=', 'due')
          .execute()
        await recordAction(transaction, { action: 'target_disabled', actor: itself, subject: target, detail: error })
      }),

    async enable(target: string): Promise<void> {
      await query.deleteFrom('disabled_targets').where('target', '=', target).execute()
    },

    /** Leaves out what is due for a disabled target. */
    async leaveOut(target: string): Promise<void> {
      await query
        .updateTable('deliveries')
        .set({ state: 'off', last_error: 'its target is disabled', updated: sql`clock_timestamp()` })
        .where('target', '=', target)
        .where('state', '=', 'due')
        .where(sql<boolean>`coalesce(claimed_until < clock_timestamp(), true)`)
        .execute()
    },

    /** What ended last for each of some targets, and whether it is disabled. */
    async lastOf(targets: readonly string[]): Promise<Map<string, Omit<NotificationTarget, 'name' | 'kind'>>> {
      const { rows } = await sql<LastRow>`
        SELECT named.target, disabled.since, disabled.error, last.state, last.event, last.updated, last.last_error
        FROM unnest(${targets}::text[]) AS named (target)
        LEFT JOIN ${sql.id(schema, 'disabled_targets')} AS disabled ON disabled.target = named.target
        LEFT JOIN LATERAL (
          SELECT state, event, updated, last_error FROM ${deliveries}
          WHERE target = named.target AND state <> 'due' ORDER BY updated DESC LIMIT 1
        ) AS last ON true`.execute(query)
      return new Map(rows.map((row) => [row.target, lastOf(row)]))
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
        .where(({ or, and, eb }) =>
          or([eb('state', '=', 'sent'), and([eb('state', '<>', 'due'), eb('task_id', 'is', null)])]),
        )
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
  ...(row.task_id === null ? {} : { task_id: row.task_id }),
  target: row.target,
  event: row.event,
  state: row.state,
  attempts: row.attempts,
  ...(row.state === 'due' ? { next_attempt: row.next_attempt_at.getTime() / 1000 } : {}),
  ...(row.last_error === null ? {} : { last_error: row.last_error }),
  created: row.created.getTime() / 1000,
})

type ClaimedRow = Pick<ClaimedDelivery, 'id' | 'attempts' | 'createdMs' | 'reference'> & {
  readonly task_id: string | null
  readonly event: string
  readonly data: LockChange | null
}

const claimedOf = ({ task_id: taskId, event, data, ...delivery }: ClaimedRow): ClaimedDelivery => ({
  ...delivery,
  subject:
    taskId === null
      ? { kind: 'lock', lock: data as LockChange }
      : { kind: 'task', taskId, event: event as NotificationEvent },
})

type LastRow = {
  readonly target: string
  readonly since: Date | null
  readonly error: string | null
  readonly state: Delivery['state'] | null
  readonly event: string
  readonly updated: Date
  readonly last_error: string | null
}

const lastOf = ({ since, error, state, event, updated, last_error: lastError }: LastRow) => ({
  ...(since === null ? {} : { disabled: { since: since.getTime() / 1_000, error: error ?? '' } }),
  ...(state === null
    ? {}
    : {
        last: {
          state,
          event,
          at: updated.getTime() / 1_000,
          ...(lastError === null ? {} : { error: lastError }),
        },
      }),
})

const itself = { kind: 'service', id: null, name: null } as const

/** Of a change of the lock, all that has to do with a task is null. */
type Change =
  | { readonly task_id: null; readonly change: 'lock_changed'; readonly data: LockChange }
  | {
      readonly task_id: string
      readonly change: OutboxChange
      readonly app: string
      readonly status: RoutedTask['status']
      readonly may_write: boolean
      readonly notify: RoutedTask['added'] | null
      readonly previous_status: RoutedTask['status'] | null
    }

function deliveriesOf(change: Change, routesOf: Expand): Insertable<Schema['deliveries']>[] {
  if (change.task_id === null) {
    const data = JSON.stringify(change.data)
    return routesOf.lock().map((target) => ({ target, event: change.change, data }))
  }
  const { task_id, app, status, may_write: mayWrite, notify, previous_status: previous } = change
  const task = { app, status, mayWrite, added: notify ?? undefined, previousStatus: previous ?? undefined }
  const routed = routesOf.task(change.change, task)
  return routed === undefined ? [] : routed.targets.map((target) => ({ task_id, target, event: routed.event }))
}

/** With what routes look at. What was cancelled or aborted says nothing about an application. */
async function takeChanges(transaction: Kysely<Schema>, schema: string): Promise<Change[]> {
  const outbox = sql.id(schema, 'outbox')
  const tasks = sql.id(schema, 'tasks')
  const { rows } = await sql<Change & { id: string }>`
    WITH taken AS (
      DELETE FROM ${outbox} WHERE id IN (
        SELECT id FROM ${outbox} ORDER BY id LIMIT ${expandedAtOnce}
      ) RETURNING id, task_id, change, data
    )
    SELECT taken.id, taken.task_id, taken.change, taken.data, tasks.app, tasks.status, tasks.may_write, tasks.notify, (
      SELECT before.status FROM ${tasks} AS before
      WHERE before.app = tasks.app AND before.created < tasks.created AND before.status IN ('deployed', 'failed')
      ORDER BY before.created DESC LIMIT 1
    ) AS previous_status
    FROM taken LEFT JOIN ${tasks} AS tasks ON tasks.id = taken.task_id ORDER BY taken.id`.execute(transaction)
  return rows
}
