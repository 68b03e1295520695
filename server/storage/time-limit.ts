import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Reads in a transaction of which PostgreSQL itself gives a statement up after `limitMs`. When the driver does, the
 * statement runs on, for nobody. Nothing is read in advance: from PostgreSQL 18 on other processes do that, and where the
 * system has the pages in memory, handing them over takes longer than reading them (decision 0216). Nothing is compiled:
 * that takes longer than most searches (decision 0218).
 */
export const withTimeLimit = <Result>(
  query: Kysely<Schema>,
  limitMs: number,
  read: (limited: Transaction<Schema>) => Promise<Result>,
): Promise<Result> =>
  query
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      await sql`SELECT set_config('statement_timeout', ${String(limitMs)}, true),
        set_config('effective_io_concurrency', '0', true), set_config('jit', 'off', true)`.execute(transaction)
      return read(transaction)
    })

/** Whether PostgreSQL gave a statement up, because of its time or because somebody cancelled it (SQLSTATE 57014). */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'
