import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { raceLock } from '../../test/support/race-lock.ts'
import type { Actor } from '../audit/record-action.ts'
import { openDatabase } from '../storage/database.ts'
import { createDeployLockStore, type DeployLockStore } from './deploy-lock-store.ts'
import { neverClosed } from './evaluate-deploy-lock.ts'

test('once the lock is set no racing submission is accepted any more (spec 8.2)', async () => {
  await using database = await createTestDatabase()
  const result = await raceLock({ settings: database.settings, url: database.url, rounds: 25, limitMs: 120_000 })
  expect(result.rounds).toBe(25)
  expect(result.slipped).toBe(0)
  // Both must have happened, or nothing was raced.
  expect(result.accepted).toBeGreaterThan(result.rounds)
  expect(result.submissions - result.accepted).toBeGreaterThan(result.rounds)
  expect(result.slowestSetMs).toBeLessThan(20_000)
})

const ada: Actor = { kind: 'session', id: 'ada', name: 'ada' }

test.for<[string, (lock: DeployLockStore) => Promise<unknown>]>([
  ['set', (lock) => lock.set({ reason: null, until: null }, ada)],
  ['released', (lock) => lock.release(() => neverClosed, ada)],
])(
  'submissions that come while the lock is being %s wait, so that they cannot keep it waiting for ever',
  async (row) => {
    const [, change] = row
    await using own = await createTestDatabase()
    await using database = openDatabase(own.settings, () => undefined)
    const waiting = async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database.query)
      return rows.length
    }
    const { changed, submitted } = await database.query.transaction().execute(async (earlier) => {
      const hold = sql`SELECT FROM watcher.deploy_lock FOR SHARE` // as an accepting transaction does
      await hold.execute(earlier)
      const changed = change(createDeployLockStore(database))
      await expect.poll(waiting).toBe(1)
      const submitted = hold.execute(database.query)
      await expect.poll(waiting).toBe(2)
      return { changed, submitted }
    })
    await Promise.all([changed, submitted])
  },
)
