import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../server/storage/schema.ts'

export const shopImage = 'registry.example/shop'

let inserted = 0

type OwnedTask = { readonly app: string; readonly tag: string; readonly seconds: number }

/** Stores a task in progress that may commit and that the replica `owner` has claimed; returns the claim. */
export async function insertOwnedTask(query: Kysely<Schema>, owner: string, { app, tag, seconds }: OwnedTask) {
  inserted += 1
  // Ids rise, so that tasks of one millisecond are read in the order of their insertion.
  const taskId = `${inserted.toString(16).padStart(8, '0')}${randomUUID().slice(8)}`
  const claim = { taskId, owner, fence: '1' }
  await query
    .insertInto('tasks')
    .values({
      id: claim.taskId,
      created: sql<Date>`clock_timestamp()`,
      deadline: sql<Date>`now() + make_interval(secs => ${seconds})`,
      app,
      author: 'ada',
      project: 'shop',
      images: JSON.stringify([{ image: shopImage, tag }]),
      timeout_seconds: seconds,
      refresh: true,
      source: null,
      may_write: true,
      owner,
      fence: claim.fence,
    })
    .execute()
  return claim
}
