import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { openDatabase } from './database.ts'
import { isDatabaseUnreachable } from './database-unreachable.ts'

test('a connection that the server ends while the pool closes is no trouble', async () => {
  await using testDatabase = await createTestDatabase()
  const admin = new Client({ connectionString: testDatabase.url })
  await admin.connect()
  const troubles: Error[] = []
  for (let round = 0; round < 10; round += 1) {
    const database = openDatabase(testDatabase.settings, (error) => troubles.push(error))
    const read = () => database.query.selectFrom('tasks').select('id').execute()
    await Promise.all(Array.from({ length: 8 }, read))
    const ended = admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await database[Symbol.asyncDispose]()
    await ended
  }
  await admin.end()
  expect(troubles).toEqual([])
})

test('a transaction that does nothing for 5 s, as that of a frozen replica, keeps nobody waiting longer', async () => {
  await using testDatabase = await createTestDatabase()
  await using frozen = openDatabase(testDatabase.settings, () => undefined)
  await using other = openDatabase(testDatabase.settings, () => undefined)
  const write = (query: typeof other.query) => query.updateTable('deploy_lock').set({ reason: 'x' }).execute()
  const asked = other.query.transaction()
  const idle = frozen.query.transaction().execute(async (transaction) => {
    await write(transaction)
    // Who asks within these 5 s is told by PostgreSQL, and waits there no longer than here.
    await expect(asked.execute(write)).rejects.toMatchObject({ code: '55P03' })
    await delay(2_000)
    await write(other.query)
    await write(transaction)
  })
  const error: unknown = await idle.catch((reason: unknown) => reason)
  expect(isDatabaseUnreachable(error), String(error)).toBe(true)
})

test('a connection that no answer comes from is given up with its query, and later queries are answered', async () => {
  await using testDatabase = await createTestDatabase()
  await using line = await startFaultProxy({ port: Number(new URL(testDatabase.url).port) })
  const url = Object.assign(new URL(testDatabase.url), { port: String(line.port) }).href
  const settings = { ...testDatabase.settings, connection: { connectionString: url }, maxConnections: 1 }
  await using database = openDatabase(settings, () => undefined)
  const read = () => database.query.selectFrom('tasks').select('id').execute()
  await read()
  line.mood = 'swallow'
  await expect(read()).rejects.toThrow('timeout')
  line.mood = 'well'
  expect(await read()).toEqual([])
})

test('after one connection gave no answer, the pool hands out none of those that were idle before', async () => {
  await using testDatabase = await createTestDatabase()
  await using line = await startFaultProxy({ port: Number(new URL(testDatabase.url).port) })
  const url = Object.assign(new URL(testDatabase.url), { port: String(line.port) }).href
  await using database = openDatabase(
    { ...testDatabase.settings, connection: { connectionString: url } },
    () => undefined,
  )
  const read = () => database.query.transaction().execute((inside) => inside.selectFrom('tasks').select('id').execute())
  await Promise.all(Array.from({ length: 4 }, read))
  expect(line.connections()).toBe(4)
  line.strand()
  await expect(read()).rejects.toThrow('timeout')
  expect(await Promise.all(Array.from({ length: 4 }, read))).toEqual([[], [], [], []])
})
