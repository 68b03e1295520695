import { sql } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { createAcceptTask } from './accept-task.ts'
import { dropExpiredKeys, findKey, type KnownKey } from './idempotency.ts'
import type { UnfinishedCount } from './unfinished-quota.ts'

/** Of one task. */
const maxReaders = 100

/** SQL of what is submitted. */
export function createSubmissionStore(
  database: Database,
  maxUnfinishedPerApp?: number,
  isTold: () => boolean = () => false,
) {
  const { query } = database

  return {
    /** Stores a submitted task, unless its Idempotency-Key stands for another one already. */
    accept: createAcceptTask(database, maxUnfinishedPerApp, isTold),

    /** What an Idempotency-Key stands for, if it was used within a day. */
    findKey: (keyDigest: string): Promise<KnownKey | undefined> => findKey(query, keyDigest),

    /** Lets one more credential that submitted a task read it, if it has not very many already. */
    async addReader(id: string, digest: Buffer): Promise<void> {
      await query
        .updateTable('tasks')
        .set({ reader_digests: sql`array_append(reader_digests, ${digest})` })
        .where('id', '=', id)
        .where(sql<boolean>`NOT ${digest} = ANY (coalesce(reader_digests, '{}'))`)
        .where(sql<boolean>`coalesce(cardinality(reader_digests), 0) < ${maxReaders}`)
        .execute()
    },

    dropExpiredKeys: (): Promise<void> => dropExpiredKeys(query),

    countUnfinished: (): Promise<UnfinishedCount> =>
      query
        .selectFrom('tasks')
        .select(sql<number>`count(*)::integer`.as('all'))
        .select(sql<number>`(count(*) FILTER (WHERE may_write))::integer`.as('withCredential'))
        .where('ended', 'is', null)
        .executeTakeFirstOrThrow(),
  }
}
export type SubmissionStore = ReturnType<typeof createSubmissionStore>
