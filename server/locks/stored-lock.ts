import { sql } from 'kysely'

/** What is stored about the deploy lock: what people did, not what the schedule says. */
export type StoredLock = {
  readonly isSet: boolean
  readonly since: Date | null
  /** null: until released. */
  readonly until: Date | null
  readonly reason: string | null
  readonly setBy: string | null
  /** Until then the schedule has no effect, because a user released the lock inside a lockdown window. */
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
export type StoredRow = {
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

/** The row of the deploy lock, as a subquery that keeps others from changing it until the transaction ends (decision 0003). */
export const holdDeployLock = (schema: string) => sql`(SELECT * FROM ${sql.id(schema, 'deploy_lock')} FOR SHARE)`
