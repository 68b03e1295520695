import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { raceLock } from '../../test/support/race-lock.ts'

test('once the lock is set no racing submission is accepted any more (spec 8.2); whole: npm run race:lock', async () => {
  await using database = await createTestDatabase()
  const result = await raceLock({ settings: database.settings, url: database.url, rounds: 100, limitMs: 8_000 })
  expect(result.rounds).toBeGreaterThan(20)
  expect(result.slipped).toBe(0)
  // Both must have happened, or nothing was raced.
  expect(result.accepted).toBeGreaterThan(result.rounds)
  expect(result.submissions - result.accepted).toBeGreaterThan(result.rounds)
  expect(result.slowestSetMs).toBeLessThan(2_000)
})
