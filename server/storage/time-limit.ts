import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Reads in a transaction in which PostgreSQL itself cancels a statement `limitMs` after the call, so that the wait for a
 * connection counts. When the driver stops waiting, the
 * statement runs on. In the transaction alone, so that it holds behind a pooler too. Nothing is compiled: that takes longer
 * than most searches (decision 0021).
 */
export const withTimeLimit = <Result>(
  query: Kysely<Schema>,
  limitMs: number,
  read: (limited: Transaction<Schema>) => Promise<Result>,
): Promise<Result> => {
  const endMs = performance.now() + limitMs
  return query
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const leftMs = Math.max(1, Math.floor(endMs - performance.now()))
      await sql`SELECT set_config('statement_timeout', ${String(leftMs)}, true), set_config('jit', 'off', true)`.execute(
        transaction,
      )
      return read(transaction)
    })
}

/** Whether PostgreSQL gave a statement up, because of its time or because it was cancelled (SQLSTATE 57014). */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'
