import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { TaskSubmission } from '../../../contract/task.ts'
import { actorOf, type Principal } from '../../auth/access/principal.ts'
import type { Schema } from '../../storage/schema.ts'
import { onOneReplica } from '../../storage/transactions.ts'
import { IdempotencyKeyUsedError } from '../task-errors.ts'

/** A submission that came with an Idempotency-Key; both digests are SHA-256 in hexadecimal digits. */
export type KeyUse = {
  /** Of whose key it is: kind and subject of the credential, and application, with the key itself. */
  readonly keyDigest: string
  readonly bodyDigest: string
}

/** What is stored of the use that came first. */
export type KnownKey = { readonly taskId: string; readonly bodyDigest: string }

/** A key is unknown to another credential and to another application. Bodies are equal if their fields are, in any order. */
export function keyUseOf(key: string, submission: TaskSubmission, caller: Principal): KeyUse {
  const { kind, id } = actorOf(caller, submission.app)
  return {
    keyDigest: digestOf([kind, id, submission.app, key]),
    // The schema has put the fields into its own order; null and no refresh mean the same.
    bodyDigest: digestOf({ ...submission, refresh: submission.refresh ?? undefined }),
  }
}

const digestOf = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/**
 * The task that a key stands for (decision 0002).
 * @throws {IdempotencyKeyUsedError} where this is not the use that came first, sent again
 */
export function taskOfKnownKey(known: KnownKey, use: KeyUse): string {
  if (known.bodyDigest !== use.bodyDigest) throw new IdempotencyKeyUsedError()
  return known.taskId
}

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
