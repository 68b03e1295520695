import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../test/support/database.ts'
import { openDatabase } from './database.ts'
import { withTimeLimit } from './time-limit.ts'

const { testDatabase } = await openFileDatabase()

test('the wait for a connection counts against the limit of a read', async () => {
  await using single = openDatabase({ ...testDatabase.settings, maxConnections: 1 }, () => undefined)
  const limitOf = () =>
    withTimeLimit(single.query, 60_000, async (limited) => {
      const { rows } = await sql<{ ms: number }>`
        SELECT setting::integer AS ms FROM pg_settings WHERE name = 'statement_timeout'`.execute(limited)
      return rows[0]?.ms
    })
  const begunMs = performance.now()
  const busy = sql`SELECT pg_sleep(0.2)`.execute(single.query)
  const limit = limitOf()
  await busy
  const waitedMs = performance.now() - begunMs
  expect(waitedMs).toBeGreaterThan(150)
  expect(await limit).toBeLessThanOrEqual(60_000 - waitedMs + 50)
})
