import { expect, test } from 'vitest'
import { playMany } from './play-many.ts'
import { playSeed, scriptOf } from './play-seed.ts'
import { runHistory } from './run-history.ts'

test('ten histories show nothing that none may show', async () => {
  const { histories, failures } = await playMany({ first: 1, count: 10, workers: 1 }, () => {})
  expect({ histories, failures }).toEqual({ histories: 10, failures: [] })
})

test('a seed gives the same history every time', async () => {
  const seeds = [1, 2, 3, 4, 5]
  const once = await Promise.all(seeds.map(playSeed))
  const again = await Promise.all(seeds.map((seed) => runHistory(structuredClone(scriptOf(seed)))))
  expect(again).toEqual(once)
})
