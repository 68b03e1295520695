import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repeat } from './repeat.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const never = (error: unknown) => {
  throw error
}

test('many triggers soon after a run are one run, after its rest; one that comes later is done at once', async () => {
  const runsMs: number[] = []
  const repeated = repeat(async () => void runsMs.push(performance.now()), 1_000, never, 20)
  const began = runsMs[0] ?? 0
  await vi.advanceTimersByTimeAsync(5)
  for (let trigger = 0; trigger < 10; trigger += 1) {
    repeated.trigger()
    await vi.advanceTimersByTimeAsync(1)
  }
  await vi.advanceTimersByTimeAsync(100)
  repeated.trigger()
  expect(runsMs.map((ms) => ms - began)).toEqual([0, 20, 115])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runsMs.at(-1)).toBe(began + 1_115)
  await repeated[Symbol.asyncDispose]()
})

test('a trigger while it runs is one more run, and none begins after it was stopped', async () => {
  let runs = 0
  let finish = () => {}
  const work = () => {
    runs += 1
    return new Promise<void>((resolve) => {
      finish = resolve
    })
  }
  const repeated = repeat(work, 1_000, never, 20)
  repeated.trigger()
  finish()
  await vi.advanceTimersByTimeAsync(19)
  expect(runs).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(runs).toBe(2)
  repeated.trigger()
  const stopped = repeated[Symbol.asyncDispose]()
  finish()
  await stopped
  await vi.advanceTimersByTimeAsync(5_000)
  expect(runs).toBe(2)
})
