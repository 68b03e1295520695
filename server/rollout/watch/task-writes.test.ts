import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
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

test('updates that wait behind a write are saved together, those behind a later write after it', async () => {
  const clock = createVirtualClock()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const saved: unknown[] = []
  const save = async (update: unknown) => saved.push(update) > 0
  const note = (detail: string) => ({ kind: 'note', detail }) as const
  const writes = createTaskWrites(
    clock,
    () => {},
    () => {},
  )
  writes.add(() => promise)
  writes.addUpdate({ change: { progress: 'waits' }, events: [note('1')] }, save)
  writes.addUpdate({ change: { progress: 'syncs', appUrl: 'https://cd.example/shop' }, events: [note('2')] }, save)
  writes.add(async () => saved.push('queued') > 0)
  writes.addUpdate({ change: {}, events: [note('3')] }, save)
  resolve(true)
  await clock.advanceTo(1)
  expect(saved).toEqual([
    { change: { progress: 'syncs', appUrl: 'https://cd.example/shop' }, events: [note('1'), note('2')] },
    'queued',
    { change: {}, events: [note('3')] },
  ])
})

test('updates that could not be saved are tried again as they were, later ones after them', async () => {
  const clock = createVirtualClock()
  const saved: unknown[] = []
  let isAway = true
  const save = async (update: unknown) => {
    if (isAway) throw new Error('database away')
    return saved.push(update) > 0
  }
  const writes = createTaskWrites(
    clock,
    () => {},
    () => {},
  )
  writes.addUpdate({ change: { progress: 'waits' }, events: [] }, save)
  await clock.advanceTo(10)
  writes.addUpdate({ change: { progress: 'syncs' }, events: [] }, save)
  isAway = false
  await clock.advanceTo(5_000)
  expect(saved).toEqual([
    { change: { progress: 'waits' }, events: [] },
    { change: { progress: 'syncs' }, events: [] },
  ])
})
