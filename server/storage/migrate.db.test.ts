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
