import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../storage/schema.ts'
import type { StoredLock } from './stored-lock.ts'

const columns = ['is_set', 'since', 'until', 'reason', 'set_by', 'override_until'] as const

/**
 * Reads what is stored about the lock and keeps it so until the transaction ends: whoever sets the lock waits for all that
 * hold it, and whoever comes later waits for him and reads what he wrote (decision 0134). The transaction must be one of
 * READ COMMITTED.
 */
export async function holdDeployLock(transaction: Kysely<Schema>): Promise<StoredLock> {
  return storedLockOf(await transaction.selectFrom('deploy_lock').select(columns).forShare().executeTakeFirstOrThrow())
}

type Row = Pick<Selectable<Schema['deploy_lock']>, (typeof columns)[number]>

export const storedLockOf = (row: Row): StoredLock => ({
  isSet: row.is_set,
  since: row.since,
  until: row.until,
  reason: row.reason,
  setBy: row.set_by,
  overrideUntil: row.override_until,
})
