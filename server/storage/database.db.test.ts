import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { openDatabase } from './database.ts'

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
