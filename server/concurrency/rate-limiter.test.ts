import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import type { Clock } from './clock.ts'
import { createRateLimiter } from './rate-limiter.ts'

/** A limiter of ten a second, and when each work of its line began. */
function aLimiter(limits: Partial<Parameters<typeof createRateLimiter>[0]> = {}, clock = createVirtualClock()) {
  const limiter = createRateLimiter({ clock, perSecond: () => 10, maxSavedSeconds: 0, maxRunning: 100, ...limits })
  const startedAtMs: number[] = []
  const lasting = (ms: number) => () => {
    startedAtMs.push(clock.nowMs())
    return new Promise<void>((resolve) => void clock.setTimer(ms, resolve))
  }
  const enter = (start: () => Promise<unknown> | undefined) => limiter.enter(start, { isUrgent: false })
  const enterUrgent = (start: () => Promise<unknown> | undefined) => limiter.enter(start, { isUrgent: true })
  return { clock, enter, enterUrgent, startedAtMs, lasting }
}

describe('the line', () => {
  test('moves on at the rate, first come, first served', async () => {
    const { clock, enter, lasting } = aLimiter()
    const order: number[] = []
    for (const at of [1, 2, 3]) {
      enter(() => {
        order.push(at, clock.nowMs())
        return lasting(0)()
      })
    }
    await clock.advanceTo(1_000)
    expect(order).toEqual([1, 0, 2, 100, 3, 200])
    expect(clock.timerCount()).toBe(0)
  })

  test('uses at once what a quiet time has saved', async () => {
    const { clock, enter, startedAtMs, lasting } = aLimiter({ maxSavedSeconds: 0.3 })
    await clock.advanceTo(5_000)
    for (let at = 0; at < 5; at += 1) enter(lasting(0))
    await clock.advanceTo(6_000)
    expect(startedAtMs).toEqual([5_000, 5_000, 5_000, 5_100, 5_200])
  })

  test('gives a turn that is not used to the next one', async () => {
    const { clock, enter, startedAtMs, lasting } = aLimiter()
    for (let at = 0; at < 50; at += 1) enter(() => undefined)
    enter(lasting(0))
    await clock.advanceTo(1)
    expect(startedAtMs).toEqual([0])
  })

  test('has no more at work than it may, also after work that failed', async () => {
    const { clock, enter, startedAtMs, lasting } = aLimiter({ maxRunning: 2 })
    enter(() => lasting(1_000)().then(() => Promise.reject(new Error('failed'))))
    for (let at = 0; at < 3; at += 1) enter(lasting(1_000))
    await clock.advanceTo(5_000)
    expect(startedAtMs).toEqual([0, 100, 1_000, 1_100])
  })

  test('follows a rate that changes', async () => {
    let replicas = 1
    const { clock, enter, startedAtMs, lasting } = aLimiter({ perSecond: () => 10 / replicas })
    for (let at = 0; at < 4; at += 1) enter(lasting(0))
    await clock.advanceTo(100)
    replicas = 2
    await clock.advanceTo(1_000)
    expect(startedAtMs).toEqual([0, 100, 300, 500])
  })
})

test('timers that fire late cost the line nothing', async () => {
  const clock = createVirtualClock()
  const late: Clock = {
    nowMs: clock.nowMs,
    setTimer: (delayMs, callback) => {
      const atMs = clock.nowMs() + delayMs
      return clock.setTimer(Math.ceil(atMs / 15) * 15 - clock.nowMs(), callback)
    },
  }
  const limits = { clock: late, perSecond: () => 40, maxSavedSeconds: 0.2 }
  const { enter, startedAtMs, lasting } = aLimiter(limits, clock)
  for (let at = 0; at < 400; at += 1) enter(lasting(0))
  await clock.advanceTo(4_000)
  expect(startedAtMs.length).toBeGreaterThanOrEqual(160)
})

describe('urgent work', () => {
  test('waits for a token only, ahead of the line', async () => {
    const { clock, enter, enterUrgent, startedAtMs, lasting } = aLimiter({ maxRunning: 1 })
    enter(lasting(10_000))
    await clock.advanceTo(50)
    for (let at = 0; at < 2; at += 1) enter(lasting(0))
    const urgentAtMs: number[] = []
    for (let at = 0; at < 3; at += 1) enterUrgent(async () => urgentAtMs.push(clock.nowMs()))
    await clock.advanceTo(1_000)
    expect(urgentAtMs).toEqual([100, 200, 300])
    expect(startedAtMs).toEqual([0])
  })
})
