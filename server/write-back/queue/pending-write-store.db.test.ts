import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertOwnedTask } from '../../../test/support/insert-owned-task.ts'
import { type Database, openDatabase } from '../../storage/database.ts'
import { createPendingWriteStore, type WriteQueue } from './pending-write-store.ts'

const place = { repository: 'git.example/gitops', branch: 'main' }
const address = 'ssh://git@git.example/gitops.git'

/** A task whose write is queued, on a repository that a living replica owns. */
async function aQueuedWrite({ query }: Database): Promise<{ taskId: string; claim: WriteQueue }> {
  const owner = randomUUID()
  await query.insertInto('replicas').values({ id: owner, lock_key: '7' }).execute()
  const { taskId } = await insertOwnedTask(query, owner, { app: 'shop', tag: 'v2', seconds: 60 })
  await query.insertInto('repositories').values({ name: place.repository, owner }).execute()
  await query
    .insertInto('pending_writes')
    .values({ task_id: taskId, ...place, address, plan: '{}' })
    .execute()
  return { taskId, claim: { ...place, address, owner, fence: '0' } }
}

test('a commit that is recorded late does not set back when the task was last updated', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase(testDatabase.settings, () => undefined)
  const { query } = database
  const { taskId, claim } = await aQueuedWrite(database)
  const outcome = { kind: 'landed', commit: 'c'.repeat(40), ...place } as const
  const isWaiting = async () => {
    const { rows } =
      await sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(
        query,
      )
    return rows.length
  }
  let recorded: Promise<boolean> | undefined
  const { updated } = await query.transaction().execute(async (transaction) => {
    await transaction.selectFrom('repositories').select('name').forUpdate().execute()
    recorded = createPendingWriteStore(database).record(claim, [{ taskId, outcome, events: [] }])
    await expect.poll(isWaiting).toBe(1)
    return transaction
      .updateTable('tasks')
      .set({ updated: sql`clock_timestamp()` })
      .where('id', '=', taskId)
      .returning('updated')
      .executeTakeFirstOrThrow()
  })
  expect(await recorded).toBe(true)
  const after = await query.selectFrom('tasks').select(['updated', 'commit']).executeTakeFirstOrThrow()
  expect(after.commit).toBe(outcome.commit)
  expect(after.updated.getTime()).toBeGreaterThanOrEqual(updated.getTime())
})

test('a push that its frozen owner and its successor both find landed is recorded once', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase(testDatabase.settings, () => undefined)
  const { taskId, claim } = await aQueuedWrite(database)
  const store = createPendingWriteStore(database)
  await store.beginPush(claim, 'b'.repeat(40), [taskId])
  const outcome = { kind: 'landed', commit: 'c'.repeat(40), ...place } as const
  const landed = { taskId, outcome, events: [{ kind: 'commit_pushed', detail: 'landed' }] } as const
  await store.recordLatePush([landed])
  expect(await store.record(claim, [landed])).toBe(true)
  await store.recordLatePush([landed])
  expect(await database.query.selectFrom('task_events').select('detail').execute()).toEqual([{ detail: 'landed' }])
})

test('a write of which nothing was sent has no base to look from', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase(testDatabase.settings, () => undefined)
  const { taskId, claim } = await aQueuedWrite(database)
  const store = createPendingWriteStore(database)
  const stored = () => database.query.selectFrom('pending_writes').select(['state', 'base']).executeTakeFirstOrThrow()
  await store.beginPush(claim, 'b'.repeat(40), [taskId])
  expect(await stored()).toEqual({ state: 'pushing', base: 'b'.repeat(40) })
  await store.queueAgain(claim, [taskId])
  expect(await stored()).toEqual({ state: 'queued', base: null })
})

test('a repository is given to another living replica, once a minute at most', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase(testDatabase.settings, () => undefined)
  const { query } = database
  const { claim } = await aQueuedWrite(database)
  const store = createPendingWriteStore(database)
  expect(await store.giveAway(claim)).toBe(false)
  expect(await store.owns(claim)).toBe(true)

  const other = randomUUID()
  await query.insertInto('replicas').values({ id: other, lock_key: '8' }).execute()
  expect(await store.giveAway(claim)).toBe(true)
  expect(await store.owns(claim)).toBe(false)
  const given = { ...claim, owner: other, fence: '1' }
  expect(await store.claimRepositories(other)).toEqual([given])
  expect(await store.giveAway(given)).toBe(false)

  await query.updateTable('repositories').set({ given: sql<Date>`now() - interval '61 s'` }).execute()
  expect(await store.giveAway(given)).toBe(true)
  expect(await store.owns({ ...claim, fence: '2' })).toBe(true)
})

test('only the owner of a repository moves writes to another branch, and only those of its queue', async () => {
  await using testDatabase = await createTestDatabase()
  await using database = openDatabase(testDatabase.settings, () => undefined)
  const { taskId, claim } = await aQueuedWrite(database)
  const store = createPendingWriteStore(database)
  const branch = async () =>
    (await database.query.selectFrom('pending_writes').select('branch').executeTakeFirstOrThrow()).branch
  await store.moveToBranch({ ...claim, fence: '1' }, [taskId], 'trunk')
  await store.moveToBranch({ ...claim, branch: 'HEAD' }, [taskId], 'trunk')
  expect(await branch()).toBe('main')
  await store.moveToBranch(claim, [taskId], 'trunk')
  expect(await branch()).toBe('trunk')
})
