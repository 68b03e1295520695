import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { createRateLimiter } from './rate-limiter.ts'

/** A limiter of ten a second, and when each work of its line began. */
function aLimiter(limits: Partial<Parameters<typeof createRateLimiter>[0]> = {}) {
  const clock = createVirtualClock()
  const limiter = createRateLimiter({ clock, perSecond: () => 10, maxSavedSeconds: 0, maxRunning: 100, ...limits })
  const startedAtMs: number[] = []
  const lasting = (ms: number) => () => {
    startedAtMs.push(clock.nowMs())
    return new Promise<void>((resolve) => void clock.setTimer(ms, resolve))
  }
  return { clock, limiter, startedAtMs, lasting }
}

describe('the line', () => {
  test('moves on at the rate, first come, first served', async () => {
    const { clock, limiter, lasting } = aLimiter()
    const order: number[] = []
    for (const at of [1, 2, 3]) {
      limiter.enter(() => {
        order.push(at, clock.nowMs())
        return lasting(0)()
      })
    }
    await clock.advanceTo(1_000)
    expect(order).toEqual([1, 0, 2, 100, 3, 200])
    expect(clock.timerCount()).toBe(0)
  })

  test('uses at once what a quiet time has saved', async () => {
    const { clock, limiter, startedAtMs, lasting } = aLimiter({ maxSavedSeconds: 0.3 })
    await clock.advanceTo(5_000)
    for (let at = 0; at < 5; at += 1) limiter.enter(lasting(0))
    await clock.advanceTo(6_000)
    expect(startedAtMs).toEqual([5_000, 5_000, 5_000, 5_100, 5_200])
  })

  test('gives a turn that is not used to the next one', async () => {
    const { clock, limiter, startedAtMs, lasting } = aLimiter()
    for (let at = 0; at < 50; at += 1) limiter.enter(() => undefined)
    limiter.enter(lasting(0))
    await clock.advanceTo(1)
    expect(startedAtMs).toEqual([0])
  })

  test('has no more at work than it may, also after work that failed', async () => {
    const { clock, limiter, startedAtMs, lasting } = aLimiter({ maxRunning: 2 })
    limiter.enter(() => lasting(1_000)().then(() => Promise.reject(new Error('failed'))))
    for (let at = 0; at < 3; at += 1) limiter.enter(lasting(1_000))
    await clock.advanceTo(5_000)
    expect(startedAtMs).toEqual([0, 100, 1_000, 1_100])
  })

  test('follows a rate that changes', async () => {
    let replicas = 1
    const { clock, limiter, startedAtMs, lasting } = aLimiter({ perSecond: () => 10 / replicas })
    for (let at = 0; at < 4; at += 1) limiter.enter(lasting(0))
    await clock.advanceTo(100)
    replicas = 2
    await clock.advanceTo(1_000)
    expect(startedAtMs).toEqual([0, 100, 300, 500])
  })
})

describe('urgent work', () => {
  test('spends what is saved, so that the line waits for its first token', async () => {
    const { clock, limiter, startedAtMs, lasting } = aLimiter({ maxSavedSeconds: 0.5 })
    for (let at = 0; at < 20; at += 1) limiter.spend()
    for (let at = 0; at < 2; at += 1) limiter.enter(lasting(0))
    await clock.advanceTo(1_000)
    expect(startedAtMs).toEqual([100, 200])
  })

  test('does not stop a line however much of it there is', async () => {
    const { clock, limiter, startedAtMs, lasting } = aLimiter()
    for (let at = 0; at < 10; at += 1) limiter.enter(lasting(0))
    for (let atMs = 0; atMs < 1_000; atMs += 5) {
      await clock.advanceTo(atMs)
      limiter.spend()
    }
    expect(startedAtMs).toHaveLength(10)
  })

  test('of which much may come waits for a token, ahead of the line', async () => {
    const { clock, limiter, startedAtMs, lasting } = aLimiter({ maxRunning: 1 })
    limiter.enter(lasting(10_000))
    await clock.advanceTo(50)
    for (let at = 0; at < 2; at += 1) limiter.enter(lasting(0))
    const takenAtMs: number[] = []
    for (let at = 0; at < 3; at += 1) void limiter.take().then(() => takenAtMs.push(clock.nowMs()))
    await clock.advanceTo(1_000)
    expect(takenAtMs).toEqual([100, 200, 300])
    expect(startedAtMs).toEqual([0])
  })
})
