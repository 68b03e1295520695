import { expect, test } from 'vitest'
import type { History } from '../../../contract/history.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { aTask } from '../deployments/a-task.ts'
import { aPeriod } from './a-period.ts'
import { applyToToday } from './apply-to-today.ts'

const today: History = {
  as_of: 100,
  days: 1,
  time_zone: 'UTC',
  total: aPeriod({ to: 100, counts: { deployed: 2 } }),
  before: aPeriod(),
  by_day: [],
  causes: [],
  most_failing: [],
  marks: [],
}
const verdict = (task: TaskRecord) => ({ id: 1, task_id: task.id, at: 0, kind: 'verdict' as const, detail: '', task })

test('what ends is counted and marked', () => {
  const { total, marks } = applyToToday(today, [
    verdict(aTask({ id: 'a', status: 'failed', updated: 110 })),
    verdict(aTask({ id: 'b', status: 'cancelled', updated: 120 })),
  ])
  expect(total.counts).toEqual({ deployed: 2, failed: 1, cancelled: 1 })
  expect(marks).toEqual([{ id: 'a', app: 'shop', status: 'failed', ended: 110 }])
})

test('what the answer knew already, and what goes on, changes nothing', () => {
  const known = verdict(aTask({ status: 'deployed', updated: 100 }))
  const running = { ...verdict(aTask({ updated: 150 })), kind: 'waiting_for' as const }
  expect(applyToToday(today, [known, running])).toBe(today)
})

test('an event that comes twice is counted once', () => {
  const event = verdict(aTask({ status: 'deployed', updated: 110 }))
  expect(applyToToday(applyToToday(today, [event]), [event]).total.counts.deployed).toBe(3)
})
