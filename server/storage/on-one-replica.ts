import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/** Does `work` in a transaction of its own; undefined while another replica does the work of this name. */
export const onOneReplica = <Result>(
  query: Kysely<Schema>,
  name: string,
  work: (transaction: Transaction<Schema>) => Promise<Result>,
): Promise<Result | undefined> =>
  query.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ mine: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 1)) AS mine`.execute(transaction)
    return rows[0]?.mine ? work(transaction) : undefined
  })
