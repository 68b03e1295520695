import { expect, test } from 'vitest'
import { createUnfinishedQuota } from './unfinished-quota.ts'

function aQuota(all = 0, withCredential = 0) {
  let reads = 0
  let nowMs = 0
  let stored = { all, withCredential }
  const requireRoom = createUnfinishedQuota({
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
    requireRoom,
    store: (count: number) => {
      stored = { all: count, withCredential: 0 }
    },
    at: (ms: number) => (nowMs = ms),
    reads: () => reads,
  }
}

test('there is room for so many unfinished tasks, and for one more when one has ended', async () => {
  const { requireRoom, store } = aQuota(2)
  await requireRoom(false)
  store(3)
  await expect(requireRoom(false)).rejects.toThrow('3 tasks are unfinished')
  store(2)
  await expect(requireRoom(false)).resolves.toBeUndefined()
})

test('tasks without a credential take no room from those with one', async () => {
  const { requireRoom } = aQuota(3, 2)
  await expect(requireRoom(false)).rejects.toThrow('unfinished')
  await expect(requireRoom(true)).resolves.toBeUndefined()
})

test('they are counted once a second', async () => {
  const { requireRoom, at, reads } = aQuota()
  await requireRoom(false)
  at(1_000)
  await requireRoom(false)
  expect(reads()).toBe(1)
  at(1_001)
  await requireRoom(false)
  expect(reads()).toBe(2)
})
