import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { TaskUpdate } from '../../deployments/own/save-progress.ts'
import { createTaskWrites, heldMs } from './task-writes.ts'

const away = async () => {
  throw new Error('database away')
}
const ignore = () => {}
const note = (detail: string) => ({ kind: 'note', detail }) as const

/** Writes, with all that was saved; `isAway` says whether the database does not answer. */
function startWrites() {
  const clock = createVirtualClock()
  const saved: unknown[] = []
  const state = { isAway: false }
  const save = async (update: TaskUpdate) => {
    if (state.isAway) throw new Error('database away')
    return saved.push(update) > 0
  }
  return { clock, saved, state, writes: createTaskWrites(clock, save, ignore, ignore) }
}

test('writes that are added while the database is away share one timer, and closing leaves none', async () => {
  const { clock, writes } = startWrites()
  for (const atMs of [0, 300, 600]) {
    await clock.advanceTo(atMs)
    writes.add(away)
  }
  await clock.advanceTo(700)
  expect(clock.timerCount()).toBe(1)
  writes.addUpdate({ change: {}, events: [note('held')] })
  writes.close()
  expect(clock.timerCount()).toBe(0)
})

test('a write that fails after closing is not tried again', async () => {
  const { clock, writes } = startWrites()
  const { promise, reject } = Promise.withResolvers<boolean>()
  writes.add(() => promise)
  writes.close()
  reject(new Error('database away'))
  await clock.advanceTo(10)
  expect(clock.timerCount()).toBe(0)
})

test('updates that come together are saved together, before the write that follows them', async () => {
  const { clock, saved, writes } = startWrites()
  writes.addUpdate({ change: { progress: 'waits' }, events: [note('1')] })
  await clock.advanceTo(heldMs - 1)
  expect(saved).toEqual([])
  writes.addUpdate({ change: { progress: 'syncs', appUrl: 'https://cd.example/shop' }, events: [note('2')] })
  await clock.advanceTo(heldMs)
  writes.addUpdate({ change: {}, events: [note('3')] })
  writes.add(async () => saved.push('queued') > 0)
  await clock.advanceTo(heldMs + 1)
  expect(saved).toEqual([
    { change: { progress: 'syncs', appUrl: 'https://cd.example/shop' }, events: [note('1'), note('2')] },
    { change: {}, events: [note('3')] },
    'queued',
  ])
})

test('the last write saves what was held', async () => {
  const { clock, saved, writes } = startWrites()
  writes.addUpdate({ change: { progress: 'waits' }, events: [note('1')] })
  writes.addLast(async (unsaved) => saved.push(['end', unsaved]) > 0)
  await clock.advanceTo(2 * heldMs)
  expect(saved).toEqual([['end', { change: { progress: 'waits' }, events: [note('1')] }]])
  expect(clock.timerCount()).toBe(0)
})

test('the refresh that follows the first sight of an application is part of that event', async () => {
  const { clock, saved, writes } = startWrites()
  const refresh = { kind: 'refresh_requested', detail: 'refresh requested', data: { refresh: true } } as const
  writes.addUpdate({
    change: {},
    events: [{ kind: 'application_confirmed', detail: 'found', data: { sync: 'Synced' } }],
  })
  writes.addUpdate({ change: {}, events: [refresh] })
  writes.addUpdate({ change: {}, events: [refresh] })
  await clock.advanceTo(heldMs)
  const found = {
    kind: 'application_confirmed',
    detail: 'found; refresh requested',
    data: { sync: 'Synced', refresh: true },
  }
  expect(saved).toEqual([{ change: {}, events: [found, refresh] }])
})

test('updates that could not be saved are tried again as they were, all later ones together after them', async () => {
  const { clock, saved, state, writes } = startWrites()
  state.isAway = true
  writes.addUpdate({ change: { progress: 'waits' }, events: [] })
  for (const progress of ['syncs', 'starts']) {
    await clock.advanceTo(clock.nowMs() + 300)
    writes.addUpdate({ change: { progress }, events: [] })
  }
  state.isAway = false
  await clock.advanceTo(5_000)
  expect(saved).toEqual([
    { change: { progress: 'waits' }, events: [] },
    { change: { progress: 'starts' }, events: [] },
  ])
})
