import { expect, test } from 'vitest'
import { createPace } from './pace.ts'

test('who comes alone waits for nothing, and many get turns evenly apart', () => {
  const pace = createPace(() => 10)
  expect([pace.turnAtMs(5_000), pace.turnAtMs(5_000), pace.turnAtMs(5_050)]).toEqual([5_000, 5_100, 5_200])
  expect(pace.turnAtMs(9_000), 'turns that nobody took are not saved up').toBe(9_000)
  expect(pace.turnAtMs(9_000)).toBe(9_100)
})
