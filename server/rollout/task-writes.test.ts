import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { createTaskWrites } from './task-writes.ts'

const away = async () => {
  throw new Error('database away')
}

test('writes that are added while the database is away share one timer, and closing leaves none', async () => {
  const clock = createVirtualClock()
  const writes = createTaskWrites(
    clock,
    () => {},
    () => {},
  )
  for (const atMs of [0, 300, 600]) {
    await clock.advanceTo(atMs)
    writes.add(away)
  }
  await clock.advanceTo(700)
  expect(clock.timerCount()).toBe(1)
  writes.close()
  expect(clock.timerCount()).toBe(0)
})

test('a write that fails after closing is not tried again', async () => {
  const clock = createVirtualClock()
  const { promise, reject } = Promise.withResolvers<boolean>()
  const writes = createTaskWrites(
    clock,
    () => {},
    () => {},
  )
  writes.add(() => promise)
  writes.close()
  reject(new Error('database away'))
  await clock.advanceTo(10)
  expect(clock.timerCount()).toBe(0)
})
