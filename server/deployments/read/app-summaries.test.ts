import { expect, test } from 'vitest'
import { createAppSummaries } from './app-summaries.ts'

function aReplica() {
  let nowMs = 1
  let reads = 0
  let failure: Error | undefined
  const read = async (days: number) => {
    reads += 1
    if (failure) throw failure
    return { as_of: reads, days, apps: [] }
  }
  const summaries = createAppSummaries(read, () => nowMs)
  return {
    at: async (ms: number, days = 30) => {
      nowMs = 1 + ms
      return (await summaries(days)).as_of
    },
    fail: (error: Error | undefined) => {
      failure = error
    },
  }
}

test('summaries are read once for all who ask within five seconds', async () => {
  const { at } = aReplica()
  expect(await Promise.all([at(0), at(0), at(0)])).toEqual([1, 1, 1])
  expect(await at(5_000)).toBe(1)
  expect(await at(5_001)).toBe(2)
})

test('each window is read by itself, and the two that were asked for last are kept', async () => {
  const { at } = aReplica()
  expect([await at(0, 1), await at(0, 2), await at(0, 3)]).toEqual([1, 2, 3])
  expect([await at(0, 3), await at(0, 2)]).toEqual([3, 2])
  expect(await at(0, 1)).toBe(4)
})

test('a read that failed is repeated for the next caller', async () => {
  const { at, fail } = aReplica()
  fail(new Error('no database'))
  await expect(at(0)).rejects.toThrow('no database')
  fail(undefined)
  expect(await at(0)).toBe(2)
})
