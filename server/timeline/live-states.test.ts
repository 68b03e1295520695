import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WakeUpListener } from '../ownership/wake-ups.ts'
import { createLiveStates } from './live-states.ts'

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
)
afterEach(() => void vi.useRealTimers())

/** What a follower was told, each with the milliseconds since it began; the lock, its wake-ups and Argo CD are the test's. */
async function followedStates() {
  const world = { locked: false, available: true, wakeUp: (() => undefined) as WakeUpListener }
  const states = createLiveStates({
    readLock: async () => ({ locked: world.locked }),
    readArgoCd: () => ({ available: world.available }),
    wakeUps: {
      on(topic, listener) {
        if (topic === 'lock') world.wakeUp = listener
        return () => undefined
      },
    },
    nowMs: () => 7_000,
    onError: (_message, error) => {
      throw error
    },
  })
  const beganMs = performance.now()
  const told: [ms: number, data: unknown][] = []
  states.follow((_kind, frame) => {
    const data = frame.toString().match(/^data: (.*)$/m)?.[1] ?? ''
    told.push([performance.now() - beganMs, JSON.parse(data)])
  })
  await vi.advanceTimersByTimeAsync(500)
  return { states, world, told }
}

test('a lock is told at once after its wake-up, and within a second without it (spec 2.4)', async () => {
  const { states, world, told } = await followedStates()
  world.locked = true
  world.wakeUp('all')
  await vi.advanceTimersByTimeAsync(0)
  world.locked = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual([
    [20, { locked: false }],
    [500, { locked: true }],
    [1_500, { locked: false }],
  ])
  await states[Symbol.asyncDispose]()
})

test('Argo CD is told once when it goes away and once when it answers again, with the time (spec 2.4)', async () => {
  const { states, world, told } = await followedStates()
  world.available = false
  await vi.advanceTimersByTimeAsync(3_000)
  world.available = true
  await vi.advanceTimersByTimeAsync(3_000)
  expect(told.slice(1)).toEqual([
    [1_000, { argo_cd: { available: false, since: 7 } }],
    [4_000, { argo_cd: { available: true, since: 7 } }],
  ])
  await states[Symbol.asyncDispose]()
})
