import { type Kysely, sql } from 'kysely'
import { type Actor, recordAction } from '../audit/record-action.ts'
import { insertLockChange } from '../notify/outbox/insert-outbox.ts'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'
import { lockErrorOf } from './deploy-lock-errors.ts'
import {
  type DeployLockStatus,
  evaluateDeployLock,
  isSetAt,
  type LockdownCalendar,
  neverClosed,
  windowAt,
} from './evaluate-deploy-lock.ts'
import { type LockPeriod, maxIntervals } from './lock-calendar.ts'
import type { Interval } from './lockdown-times.ts'
import { neverSet, type StoredLock, storedLockOf } from './stored-lock.ts'

export type LockRequest = { readonly reason: string | null; readonly until: Date | null }

/** For how long at most a release opens a lockdown window. */
const overrideMs = 15 * 60 * 1000

type CalendarAround = (around: Date) => LockdownCalendar

/**
 * All SQL of the deploy lock, but for the hold of an accepting transaction (stored-lock.ts).
 * @param isTold targets are to be told of changes
 */
export function createDeployLockStore({ query, settings }: Database, isTold = () => false) {
  return {
    /** The database's clock decides, so that replicas whose clocks differ say the same. */
    async read(): Promise<{ at: Date; stored: StoredLock }> {
      const { at, ...row } = await selected(query)
      return { at, stored: storedLockOf(row) }
    },

    /** What users did that overlaps a range of time, in order; one more than a calendar holds. */
    async periods({ from, to }: Interval, limit = maxIntervals + 1): Promise<LockPeriod[]> {
      const overlapping = await query
        .selectFrom('deploy_lock_periods')
        .select(['kind', 'since as from', 'until as to', 'reason', 'set_by as setBy'])
        .where('since', '<', to)
        // One ends before the next begins, so of all that began earlier only the last may reach into the range.
        .where('since', '>=', ({ selectFrom, fn, val }) =>
          fn.coalesce(
            selectFrom('deploy_lock_periods')
              .select(({ fn: { max } }) => max('since').as('last'))
              .where('since', '<=', from),
            val(from),
          ),
        )
        .where(({ or, eb }) => or([eb('until', 'is', null), eb('until', '>', from)]))
        .orderBy('since')
        .limit(limit)
        .execute()
      return overlapping
    },

    /**
     * Sets the lock, or gives a set one its new reason and end; ends an override. When it returns, every task that was
     * accepted before is committed, and none that comes after is accepted.
     *
     * @returns `past` where the end does not lie in the future; nothing is changed then
     */
    set: ({ reason, until }: LockRequest, actor: Actor): Promise<'set' | 'past'> =>
      query.transaction().execute(async (transaction) => {
        await lockForChange(transaction)
        const { at, ...row } = await selected(transaction)
        if (until && until <= at) return 'past'
        const stored = storedLockOf(row)
        const since = isSetAt(at, stored) ? stored.since : at
        const changed = { isSet: true, since, until, reason, setBy: actor.name, overrideUntil: null }
        await write(transaction, changed, true)
        await endPeriod(transaction, at)
        await beginPeriod(transaction, { kind: 'manual', from: at, to: until, reason, setBy: actor.name })
        const end = until ? `until ${until.toISOString()}` : 'until released'
        await recordAction(transaction, {
          action: 'lock_set',
          actor,
          detail: reason === null ? end : `${reason} (${end})`,
        })
        await tell(transaction, { ...evaluateDeployLock(at, neverClosed, changed), until }, actor.name)
        return 'set'
      }),

    /** Releases the lock; inside a lockdown window it opens that for a quarter of an hour from now, or until its end. */
    release: (calendarAround: CalendarAround, actor: Actor): Promise<void> =>
      query.transaction().execute(async (transaction) => {
        await lockForChange(transaction)
        const { at, ...row } = await selected(transaction)
        const calendar = calendarAround(at)
        const window = windowAt(calendar, at)
        const overrideUntil = window ? new Date(Math.min(at.getTime() + overrideMs, window.to.getTime())) : null
        const changed = { ...neverSet, overrideUntil }
        await write(transaction, changed, false)
        if (evaluateDeployLock(at, calendar, storedLockOf(row)).active)
          await tell(transaction, evaluateDeployLock(at, calendar, changed), actor.name)
        await endPeriod(transaction, at)
        if (overrideUntil)
          await beginPeriod(transaction, {
            kind: 'opened',
            from: at,
            to: overrideUntil,
            reason: null,
            setBy: actor.name,
          })
        const detail = overrideUntil ? `the lockdown window is open until ${overrideUntil.toISOString()}` : undefined
        await recordAction(transaction, { action: 'lock_released', actor, ...(detail === undefined ? {} : { detail }) })
      }),

    /** Tells that a lockdown window, a lock or an override has begun or ended by time: once, whichever replica sees it first. */
    async tellEdge(calendarAround: CalendarAround): Promise<void> {
      const isActiveIn = ({ at, ...row }: Awaited<ReturnType<typeof selected>>) =>
        evaluateDeployLock(at, calendarAround(at), storedLockOf(row))
      const seen = await selected(query)
      if (isActiveIn(seen).active === seen.told_active) return
      await query.transaction().execute(async (transaction) => {
        await lockForChange(transaction)
        const current = await selected(transaction)
        const status = isActiveIn(current)
        if (status.active === current.told_active) return
        await transaction.updateTable('deploy_lock').set({ told_active: status.active }).execute()
        if (current.told_active !== null) await tell(transaction, status, null)
      })
    },
  }

  async function tell(transaction: Kysely<Schema>, status: DeployLockStatus, changedBy: string | null): Promise<void> {
    if (!isTold()) return
    const { active, source, since, until, reason, setBy, overrideUntil } = status
    const seconds = (time: Date | null) => time && time.getTime() / 1_000
    await insertLockChange(transaction, {
      active,
      source,
      since: seconds(since),
      until: seconds(until),
      reason,
      set_by: setBy,
      override_until: seconds(overrideUntil),
      changed_by: changedBy,
    })
  }

  /**
   * Waits for those that hold the row now, while those that come later queue behind; a lock of the row alone would let
   * them go first, for ever. Looks are not kept waiting.
   */
  async function lockForChange(transaction: Kysely<Schema>): Promise<void> {
    await sql`LOCK TABLE ${sql.id(settings.schema, 'deploy_lock')} IN EXCLUSIVE MODE`
      .execute(transaction)
      .catch(explain)
  }
}
export type DeployLockStore = ReturnType<typeof createDeployLockStore>

const selected = (query: Kysely<Schema>) =>
  query
    .selectFrom('deploy_lock')
    .selectAll()
    .select(sql<Date>`clock_timestamp()`.as('at'))
    .executeTakeFirstOrThrow()
    .catch(explain)

const explain = (error: unknown): never => {
  throw lockErrorOf(error)
}

const write = (query: Kysely<Schema>, stored: StoredLock, isActive: boolean) =>
  query
    .updateTable('deploy_lock')
    .set({
      is_set: stored.isSet,
      since: stored.since,
      until: stored.until,
      reason: stored.reason,
      set_by: stored.setBy,
      override_until: stored.overrideUntil,
      told_active: isActive,
    })
    .execute()

const endPeriod = (query: Kysely<Schema>, at: Date) =>
  query
    .updateTable('deploy_lock_periods')
    .set({ until: at })
    .where('id', '=', ({ selectFrom }) =>
      selectFrom('deploy_lock_periods').select('id').orderBy('since', 'desc').orderBy('id', 'desc').limit(1),
    )
    .where(({ or, eb }) => or([eb('until', 'is', null), eb('until', '>', at)]))
    .execute()

const beginPeriod = (query: Kysely<Schema>, { kind, from, to, reason, setBy }: LockPeriod) =>
  query.insertInto('deploy_lock_periods').values({ kind, since: from, until: to, reason, set_by: setBy }).execute()
