import { expect, test } from 'vitest'
import { checkHistory } from './simulate/check-history.ts'
import { planHistory } from './simulate/plan-history.ts'
import { runHistory } from './simulate/run-history.ts'
import { createTestDatabase } from './support/database.ts'

test('a seed repeats its choices, and another makes other ones', () => {
  expect(planHistory(7, 'safety')).toEqual(planHistory(7, 'safety'))
  expect(planHistory(7, 'safety')).not.toEqual(planHistory(8, 'safety'))
})

const histories = [
  { seed: 1, mode: 'safety' },
  { seed: 2, mode: 'liveness' },
  { seed: 3, mode: 'safety' },
] as const

for (const { seed, mode } of histories) {
  test(`a random history breaks no invariant (seed ${seed}, ${mode})`, { timeout: 90_000 }, async () => {
    await using database = await createTestDatabase()
    expect(checkHistory(await runHistory(planHistory(seed, mode), database.url))).toEqual([])
  })
}
