import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createAppSummaries } from './app-summaries.ts'

function aReplica({ tookMs = 2_000 } = {}) {
  const troubles: unknown[] = []
  let nowMs = 0
  let reads = 0
  let failure: Error | undefined
  const read = async (days: number) => {
    reads += 1
    nowMs += tookMs
    if (failure) throw failure
    return { as_of: reads, days, apps: [] }
  }
  const summaries = createAppSummaries({ read, nowMs: () => nowMs, onError: (_message, error) => troubles.push(error) })
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

test('what took 20 ms to read is not served after 100 ms', async () => {
  const { at } = aReplica({ tookMs: 20 })
  await at(0)
  expect([await at(50), await at(101)]).toEqual([1, 2])
})

test('a look that fails is told, and to whom waits for it a failure', async () => {
  const { at, breakDown, troubles } = aReplica()
  await at(0)
  breakDown()
  expect(await at(6_000)).toBe(1)
  await expect(at(10_001)).rejects.toThrow('no database')
  expect(troubles).toHaveLength(1)
})

test('of two windows at most the summaries are kept, those that were read last', async () => {
  const { at } = aReplica()
  expect([await at(0, 1), await at(0, 2), await at(0, 3)]).toEqual([1, 2, 3])
  expect([await at(0, 3), await at(0, 2)]).toEqual([3, 2])
  expect(await at(0, 1)).toBe(4)
})

test('one window is read at a time, once for all who wait for it', async () => {
  const running: number[] = []
  const release: (() => void)[] = []
  const read = async (days: number) => {
    running.push(days)
    await new Promise<void>((resolve) => release.push(resolve))
    return { as_of: 1, days, apps: [] }
  }
  const summaries = createAppSummaries({ read, nowMs: () => 0, onError: () => undefined })
  const answers = [summaries(1), summaries(2), summaries(1), summaries(2)]
  await expect.poll(() => running).toEqual([1])
  release[0]?.()
  await expect.poll(() => running).toEqual([1, 2])
  release[1]?.()
  expect((await Promise.all(answers)).map(({ days }) => days)).toEqual([1, 2, 1, 2])
})

test('beyond three windows that are read or wait another one is 503 with Retry-After, but not that of the pages', async () => {
  const read = () => new Promise<never>(() => undefined)
  const summaries = createAppSummaries({ read, nowMs: () => 0, onError: () => undefined })
  for (const days of [1, 2, 3]) void summaries(days)
  const answerOf = (days: number) => Promise.race([summaries(days).catch((error: unknown) => error), nextTurn('waits')])
  expect(await answerOf(4)).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } })
  expect([await answerOf(3), await answerOf(30)]).toEqual(['waits', 'waits'])
})

test('a failed look keeps no other window waiting', async () => {
  const read = async (days: number) => {
    if (days === 1) throw new Error('no database')
    return { as_of: 1, days, apps: [] }
  }
  const summaries = createAppSummaries({ read, nowMs: () => 0, onError: () => undefined })
  const [first, second] = await Promise.allSettled([summaries(1), summaries(2)])
  expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
})

test('summaries that nobody asks for again are dropped after ten seconds', async () => {
  vi.useFakeTimers()
  try {
    let [reads, nowMs] = [0, 0]
    const read = async (days: number) => {
      reads += 1
      nowMs += 2_000
      return { as_of: reads, days, apps: [] }
    }
    const summaries = createAppSummaries({ read, nowMs: () => nowMs, onError: () => undefined })
    await summaries(1)
    vi.advanceTimersByTime(10_000)
    expect((await summaries(1)).as_of).toBe(2) // though by the clock, which stands still, they are as good as new
  } finally {
    vi.useRealTimers()
  }
})
