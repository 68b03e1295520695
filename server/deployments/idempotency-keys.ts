import { type Kysely, sql } from 'kysely'
import type { Schema } from '../storage/schema.ts'
import { onOneReplica } from '../storage/transactions.ts'
import type { KeyUse, KnownKey } from './idempotency-key.ts'

const droppedAtOnce = 1_000

/** A key that was first used before then stands for nothing. */
const expiry = sql<Date>`clock_timestamp() - interval '24 hours'`

export async function findKey(query: Kysely<Schema>, keyDigest: string): Promise<KnownKey | undefined> {
  const row = await query
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('key_digest', '=', Buffer.from(keyDigest, 'hex'))
    .where('created', '>', expiry)
    .executeTakeFirst()
  return row && { taskId: row.task_id, bodyDigest: row.body_digest.toString('hex') }
}

/** Lets a key stand for a task, in the place of one that has expired. */
export async function saveKey(query: Kysely<Schema>, { keyDigest, bodyDigest }: KeyUse, taskId: string): Promise<void> {
  await query
    .insertInto('idempotency_keys')
    .values({ key_digest: Buffer.from(keyDigest, 'hex'), body_digest: Buffer.from(bodyDigest, 'hex'), task_id: taskId })
    .onConflict((conflict) =>
      conflict.column('key_digest').doUpdateSet(({ ref }) => ({
        body_digest: ref('excluded.body_digest'),
        task_id: ref('excluded.task_id'),
        created: ref('excluded.created'),
      })),
    )
    .execute()
}

/** Deletes keys that stand for nothing any more, a batch at a time and on one replica at a time. */
export async function dropExpiredKeys(query: Kysely<Schema>): Promise<void> {
  while ((await dropBatch(query)) >= droppedAtOnce);
}

const dropBatch = async (query: Kysely<Schema>): Promise<number> => {
  const dropped = await onOneReplica(query, 'expired idempotency keys', async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom('idempotency_keys')
      .where('key_digest', 'in', (build) =>
        build
          .selectFrom('idempotency_keys')
          .select('key_digest')
          .where('created', '<=', expiry)
          .orderBy('created')
          .limit(droppedAtOnce),
      )
      .where('created', '<=', expiry) // one that was used again meanwhile stays
      .executeTakeFirst()
    return Number(numDeletedRows)
  })
  return dropped ?? 0
}
