import { setTimeout as delay } from 'node:timers/promises'
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

/** serialization_failure, deadlock_detected: the transaction was rolled back, and may well succeed now. */
const conflictCodes = /^(?:40001|40P01)$/
const retries = 5
const maxPauseMs = 100

/** Does `work`, one transaction, again when it lost against another one; five times at most, after a random pause. */
export async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await work()
    } catch (error) {
      if (retry >= retries || !isConflict(error)) throw error
      await delay(Math.random() * maxPauseMs)
    }
  }
}

const isConflict = (error: unknown) =>
  error instanceof Error && 'code' in error && conflictCodes.test(String(error.code))
