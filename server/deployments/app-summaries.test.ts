import { expect, test } from 'vitest'
import { createAppSummaries } from './app-summaries.ts'

function aReplica() {
  const troubles: unknown[] = []
  let nowMs = 0
  let reads = 0
  let failure: Error | undefined
  const read = async (days: number) => {
    reads += 1
    if (failure) throw failure
    return { as_of: reads, days, apps: [] }
  }
  const summaries = createAppSummaries({ read, nowMs: () => nowMs, onTrouble: (error) => troubles.push(error) })
  return {
    troubles,
    at: async (ms: number, days = 30) => {
      nowMs = ms
      return (await summaries(days)).as_of
    },
    breakDown: () => {
      failure = new Error('no database')
    },
  }
}

test('summaries are read once for all who ask within five seconds', async () => {
  const { at } = aReplica()
  expect(await Promise.all([at(0), at(0), at(0)])).toEqual([1, 1, 1])
  expect(await at(5_000)).toBe(1)
  expect(await at(5_000, 7)).toBe(2)
})

test('between five and ten seconds of age they are served and renewed for the next one', async () => {
  const { at } = aReplica()
  await at(0)
  expect(await at(9_999)).toBe(1)
  expect(await at(10_000)).toBe(2)
})

test('none is served that is older than ten seconds', async () => {
  const { at } = aReplica()
  await at(0)
  expect(await at(10_001)).toBe(2)
})

test('a look that fails is told, and to whom waits for it a failure', async () => {
  const { at, breakDown, troubles } = aReplica()
  await at(0)
  breakDown()
  expect(await at(6_000)).toBe(1)
  await expect(at(10_001)).rejects.toThrow('no database')
  expect(troubles).toHaveLength(1)
})
