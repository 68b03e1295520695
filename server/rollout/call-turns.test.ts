import { expect, test } from 'vitest'
import { type CallLine, createCallPaces, createCallTurns } from './call-turns.ts'

const turning = () => ({ callTurns: new Map<CallLine, number>() })
const aTask = (fence: string, deadlineMs = 900_000) => ({
  task: { claim: { taskId: '1', owner: 'replica', fence }, deadlineMs },
  memory: { candidate: undefined },
})
const turns = (replicas = 1) => createCallTurns(createCallPaces(() => replicas))
const newTask = aTask('1')
const resumedTask = aTask('2')
const slow = { kind: 'tree', diagnosis: 'slow' } as const
const bad = { kind: 'tree', diagnosis: 'bad' } as const
const read = { kind: 'read' } as const
const refresh = { kind: 'refresh', why: '' } as const

test('thousands of slow rollouts are looked into in turn, 20 a second', () => {
  const { waitMs } = turns()
  const applications = Array.from({ length: 2_000 }, turning)
  const waits = applications.map((application) => waitMs(application, newTask, slow, 1_000))
  expect([waits[0], waits[1], waits[1_999]]).toEqual([0, 50, 99_950])
  const due = applications.filter((application) => waitMs(application, newTask, slow, 11_000) === 0)
  expect(due, 'the turns of ten seconds, and the first one that has its next').toHaveLength(200)
})

test('a turn is kept while its application looks again, also for something else', () => {
  const { waitMs } = turns()
  waitMs(turning(), newTask, slow, 0)
  waitMs(turning(), resumedTask, read, 0)
  const second = turning()
  const looks = [0, 10, 25, 50].map((nowMs) => [
    waitMs(second, resumedTask, read, nowMs),
    waitMs(second, resumedTask, slow, nowMs),
  ])
  expect(looks).toEqual([
    [25, 50],
    [15, 40],
    [0, 25],
    [0, 0],
  ])
})

test('bad Pods do not wait behind slow rollouts', () => {
  const { waitMs } = turns()
  for (let at = 0; at < 1_000; at += 1) waitMs(turning(), newTask, slow, 0)
  const application = turning()
  expect(waitMs(application, newTask, slow, 0)).toBe(50_000)
  expect(waitMs(application, newTask, bad, 0)).toBe(0)
})

test('a thousand resumed tasks are read within 25 s, 40 a second, and slow rollouts are explained after them (F45)', () => {
  const { waitMs } = turns()
  const waits = Array.from({ length: 1_000 }, () => waitMs(turning(), resumedTask, read, 0))
  expect([waits[0], waits[1], waits[999]]).toEqual([0, 25, 24_975])
  expect(waitMs(turning(), resumedTask, refresh, 0)).toBe(25_000)
  expect(waitMs(turning(), newTask, slow, 0)).toBe(25_000)
  expect(waitMs(turning(), newTask, bad, 0)).toBe(0)
})

test('replicas share the turns', () => {
  const { waitMs } = turns(2)
  const waits = [0, 1, 2].map(() => waitMs(turning(), resumedTask, read, 0))
  expect(waits).toEqual([0, 50, 100])
})

test('what a verdict or a new task needs waits for no turn', () => {
  const { waitMs } = turns()
  for (let at = 0; at < 100; at += 1) waitMs(turning(), resumedTask, read, 0)
  const confirming = { ...resumedTask, memory: { candidate: { key: 'deployed', sinceMs: 0 } } }
  const waits = [
    waitMs(turning(), newTask, { kind: 'tree' }, 0),
    waitMs(turning(), newTask, read, 0),
    waitMs(turning(), newTask, refresh, 0),
    waitMs(turning(), confirming, read, 0),
    waitMs(turning(), aTask('2', 10_000), read, 0),
  ]
  expect(waits).toEqual([0, 0, 0, 0, 0])
})
