import { sql, type Transaction } from 'kysely'
import type { Schema } from '../storage/schema.ts'

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
