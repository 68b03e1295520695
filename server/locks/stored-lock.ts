import { sql, type Transaction } from 'kysely'
import type { Schema } from '../storage/schema.ts'

/** What is stored about the deploy lock: what people did, not what the schedule says. */
export type StoredLock = {
  readonly isSet: boolean
  readonly since: Date | null
  /** null: until somebody releases it. */
  readonly until: Date | null
  readonly reason: string | null
  readonly setBy: string | null
  /** Until then the schedule counts for nothing, because somebody released the lock inside a lockdown window. */
  readonly overrideUntil: Date | null
}

export const neverSet: StoredLock = {
  isSet: false,
  since: null,
  until: null,
  reason: null,
  setBy: null,
  overrideUntil: null,
}

/** As a row of deploy_lock has it, with times as the driver or as JSON gives them. */
type StoredRow = {
  readonly is_set: boolean
  readonly since: Date | string | null
  readonly until: Date | string | null
  readonly reason: string | null
  readonly set_by: string | null
  readonly override_until: Date | string | null
}

const dateOf = (time: Date | string | null) => (time === null ? null : new Date(time))

export const storedLockOf = (row: StoredRow): StoredLock => ({
  isSet: row.is_set,
  since: dateOf(row.since),
  until: dateOf(row.until),
  reason: row.reason,
  setBy: row.set_by,
  overrideUntil: dateOf(row.override_until),
})

/**
 * The statement that reads the deploy lock and keeps others from changing it until the transaction ends (decision 0003).
 * Its `at` is the time of the database's clock when the row was held.
 */
export const holdDeployLock = (transaction: Transaction<Schema>) =>
  transaction
    // In a subquery, so that the clock is read after the wait for the row.
    .selectFrom((build) => build.selectFrom('deploy_lock').selectAll().forShare().as('held'))
    .selectAll('held')
    .select(sql<Date>`clock_timestamp()`.as('at'))
