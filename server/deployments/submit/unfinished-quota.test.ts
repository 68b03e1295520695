import { expect, test } from 'vitest'
import { createUnfinishedQuota } from './unfinished-quota.ts'

function aQuota(all = 0, withCredential = 0) {
  let reads = 0
  let nowMs = 0
  let stored = { all, withCredential }
  const enforceUnfinishedLimit = createUnfinishedQuota({
    read: async () => {
      reads += 1
      return stored
    },
    maxUnfinished: 3,
    nowMs: () => nowMs,
    onError: (error) => {
      throw error
    },
  })
  return {
    enforceUnfinishedLimit,
    store: (count: number) => {
      stored = { all: count, withCredential: 0 }
    },
    at: (ms: number) => (nowMs = ms),
    reads: () => reads,
  }
}

test('there is room for so many unfinished tasks, and for one more when one has ended', async () => {
  const { enforceUnfinishedLimit, store } = aQuota(2)
  await enforceUnfinishedLimit(false)
  store(3)
  await expect(enforceUnfinishedLimit(false)).rejects.toThrow('3 tasks are unfinished')
  store(2)
  await expect(enforceUnfinishedLimit(false)).resolves.toBeUndefined()
})

test('tasks without a credential take no room from those with one', async () => {
  const { enforceUnfinishedLimit } = aQuota(3, 2)
  await expect(enforceUnfinishedLimit(false)).rejects.toThrow('unfinished')
  await expect(enforceUnfinishedLimit(true)).resolves.toBeUndefined()
})

test('they are counted once a second', async () => {
  const { enforceUnfinishedLimit, at, reads } = aQuota()
  await enforceUnfinishedLimit(false)
  at(1_000)
  await enforceUnfinishedLimit(false)
  expect(reads()).toBe(1)
  at(1_001)
  await enforceUnfinishedLimit(false)
  expect(reads()).toBe(2)
})
