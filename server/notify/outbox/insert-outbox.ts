import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { LockChange } from '../../../contract/notify/lock-change.ts'
import type { Schema } from '../../storage/schema.ts'
import type { OutboxChange } from '../targets/route-event.ts'

/** The part of a statement that notes that each task of which `tasks`, an earlier part, has the `id` is to be told of. */
export const insertTaskChange = (schema: string, tasks: string, change: OutboxChange): RawBuilder<unknown> => sql`
  INSERT INTO ${sql.id(schema, 'outbox')} (task_id, change) SELECT id, ${change} FROM ${sql.id(tasks)}`

/** Notes that a change of the deploy lock is to be told, in the transaction that makes it. */
export const insertLockChange = async (transaction: Kysely<Schema>, lock: LockChange): Promise<void> => {
  await transaction
    .insertInto('outbox')
    .values({ change: 'lock_changed', data: JSON.stringify(lock) })
    .execute()
}
