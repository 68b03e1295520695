import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { createTestDatabase, queryOnce } from '../../test/support/database.ts'
import { addNextMigration } from '../../test/support/next-migration.ts'
import { migrate, SchemaTooNewError } from './migrate.ts'

const waitingForMs = `
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)::float8 * 1000 AS ms
  FROM pg_stat_activity JOIN pg_locks USING (pid)
  WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`

test('a replica waits longer for the migrations of another one than for the answer to any other query', async () => {
  await using testDatabase = await createTestDatabase()
  const first = new Client({ connectionString: testDatabase.url })
  await first.connect()
  const lock = 3_853_314_791_062_309_107n // of Kysely's Migrator
  await first.query('SELECT pg_advisory_lock($1)', [lock])
  const migrated = migrate(testDatabase.settings)
  const waited = async () => (await first.query<{ ms: number }>(waitingForMs)).rows[0]?.ms
  await expect.poll(waited, { interval: 200 }).toBeGreaterThan(5_500)
  await first.query('SELECT pg_advisory_unlock($1)', [lock])
  await expect(migrated).resolves.toBeUndefined()
  await first.end()
})

test('a function that forbids a kind of plan also forbids to compile: what is forbidden seems dear up to PostgreSQL 17', async () => {
  await using testDatabase = await createTestDatabase()
  await migrate(testDatabase.settings)
  const client = new Client({ connectionString: testDatabase.url })
  await client.connect()
  const { rows } = await client.query<{ proname: string; settings: string }>(
    "SELECT proname, array_to_string(proconfig, ' ') AS settings FROM pg_proc WHERE proconfig::text LIKE '%enable_%'",
  )
  await client.end()
  expect(rows.map(({ proname }) => proname).toSorted()).toEqual(['number_events'])
  for (const { settings } of rows) expect(settings).toContain('jit=off')
})

describe('a database that a newer version has migrated', () => {
  test('is left as it is', async () => {
    await using testDatabase = await createTestDatabase()
    await using next = await addNextMigration('CREATE TABLE added (id integer)')
    await migrate(testDatabase.settings, next)
    await migrate(testDatabase.settings)
    expect(await queryOnce(testDatabase.url, 'SELECT FROM watcher.added')).toEqual([])
    await migrate(testDatabase.settings, next)
  })

  test('is refused where it lacks a migration of this version', async () => {
    await using testDatabase = await createTestDatabase()
    await using next = await addNextMigration('CREATE TABLE added (id integer)')
    await migrate(testDatabase.settings, next)
    await queryOnce(testDatabase.url, `DELETE FROM watcher.kysely_migration WHERE name = '0001-schema'`)
    const cause = { message: expect.stringContaining('corrupted migrations') }
    await expect(migrate(testDatabase.settings)).rejects.toMatchObject({ cause })
  })

  test('is refused where the newer version has said that an older one cannot work with it', async () => {
    await using testDatabase = await createTestDatabase()
    await using next = await addNextMigration('UPDATE schema_min_version SET migration = 9999')
    await migrate(testDatabase.settings, next)
    const refused = migrate(testDatabase.settings)
    await expect(refused).rejects.toThrow(SchemaTooNewError)
    await expect(refused).rejects.toThrow(/requires migration 9999, and this version knows \d{1,3}:/)
  })
})

test('a migration that waits for a lock lets readers go first again and again, and is done in the end', async () => {
  await using testDatabase = await createTestDatabase()
  await using next = await addNextMigration('ALTER TABLE tasks ADD COLUMN added integer')
  const [slow, reader] = [1, 2].map(() => new Client({ connectionString: testDatabase.url }))
  await slow?.connect()
  await reader?.connect()
  await slow?.query('BEGIN')
  await slow?.query('SELECT FROM watcher.tasks')
  let retries = 0
  const migrated = migrate(testDatabase.settings, { ...next, onRetry: () => retries++ })
  await expect.poll(() => retries).toBe(1)
  await reader?.query(`SET statement_timeout = '7s'`) // with an earlier wait it would stand in line until the slow one is done
  expect((await reader?.query('SELECT FROM watcher.tasks'))?.rowCount).toBe(0)
  await slow?.query('COMMIT')
  await migrated
  expect(await queryOnce(testDatabase.url, 'SELECT added FROM watcher.tasks')).toEqual([])
  await Promise.all([slow?.end(), reader?.end()])
})
