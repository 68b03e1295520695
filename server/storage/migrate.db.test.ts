import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { migrate } from './migrate.ts'

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
  await expect.poll(waited, { timeout: 20_000, interval: 200 }).toBeGreaterThan(5_500)
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
  expect(rows.map(({ proname }) => proname).toSorted()).toEqual(['accept_tasks', 'index_tasks', 'number_events'])
  for (const { settings } of rows) expect(settings).toContain('jit=off')
})
