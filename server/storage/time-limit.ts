import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Reads in a transaction of which PostgreSQL itself gives a statement up after `limitMs`. When the driver does, the
 * statement runs on, for nobody.
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
      await sql`SET LOCAL statement_timeout = ${sql.lit(limitMs)}`.execute(transaction)
      return read(transaction)
    })

/** Whether PostgreSQL gave a statement up, because of its time or because somebody cancelled it (SQLSTATE 57014). */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'
