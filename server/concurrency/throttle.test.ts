import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { createThrottle } from './throttle.ts'

function aFlight() {
  const clock = createVirtualClock()
  const flights = createThrottle({ nowMs: clock.nowMs, minIntervalMs: 200, afterFailureMs: 5_000 })
  const lasting = (ms: number) => () => new Promise<void>((resolve) => void clock.setTimer(ms, resolve))
  return { clock, flights, lasting }
}

test('work of a key runs until it ends, and other keys do not wait for it', async () => {
  const { clock, flights, lasting } = aFlight()
  const done = flights.run('read', lasting(1_000))
  expect(flights.isRunning('read')).toBe(true)
  expect(flights.isRunning('tree')).toBe(false)
  expect(flights.waitMs('tree')).toBe(0)
  await clock.advanceTo(1_000)
  await done
  expect(flights.isRunning('read')).toBe(false)
  expect(flights.waitMs('read')).toBe(0)
})

test('the next work of a key starts 200 ms after the one before', async () => {
  const { clock, flights, lasting } = aFlight()
  const done = flights.run('read', lasting(50))
  await clock.advanceTo(50)
  await done
  expect(flights.waitMs('read')).toBe(150)
  await clock.advanceTo(200)
  expect(flights.waitMs('read')).toBe(0)
})

test('after work that threw, the next one waits five seconds', async () => {
  const { clock, flights } = aFlight()
  const failing = flights.run('read', () => Promise.reject(new Error('failed')))
  await expect(failing).rejects.toThrow('failed')
  expect(flights.isRunning('read')).toBe(false)
  await clock.advanceTo(1_000)
  expect(flights.waitMs('read')).toBe(4_000)
})
