import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { aDiagnosis, aTask } from './a-task.ts'
import { applyToList, applyToTask, matches } from './apply-events.ts'

const anEvent = (task: TaskRecord, id = 1): TaskEvent => ({
  id,
  task_id: task.id,
  at: 1,
  kind: 'note',
  detail: '',
  task,
})

describe('a task', () => {
  const task = aTask({ progress: 'waiting for Pods', diagnosis: aDiagnosis(), branch: 'main' })

  test('takes the fields of its newest event, loses those that are gone and keeps the others', () => {
    const events = [anEvent(aTask({ progress: 'older' })), anEvent(aTask({ status: 'deployed', updated: 1_060 }), 2)]
    expect(applyToTask(task, events)).toEqual(
      aTask({ status: 'deployed', updated: 1_060, diagnosis: aDiagnosis(), branch: 'main' }),
    )
  })

  test('is the same where no event is about it', () => {
    expect(applyToTask(task, [anEvent(aTask({ id: 'other' }))])).toBe(task)
  })
})

describe('a list', () => {
  const rows = [aTask({ id: 'b', created: 2_000 }), aTask({ id: 'a', created: 1_000 })]
  const list = { tasks: rows, total: 2 }
  const ended = aTask({ id: 'a', created: 1_000, status: 'failed' })
  const brandNew = aTask({ id: 'c', created: 3_000 })

  test('changes a row where it is, and no other', () => {
    const changed = applyToList(list, [anEvent(ended)], {}, true)
    expect(changed).toEqual({ tasks: [rows[0], ended], total: 2 })
    expect(changed.tasks[0]).toBe(rows[0])
  })

  test('is the same where no event is about it', () => {
    expect(applyToList(list, [anEvent(brandNew)], {}, false)).toBe(list)
    expect(applyToList(list, [anEvent(brandNew)], { app: 'other' }, true)).toBe(list)
  })

  test('holds a new task that its filters ask for, once', () => {
    const once = applyToList(list, [anEvent(brandNew)], { app: 'shop' }, true)
    expect(once).toEqual({ ...list, tasks: [brandNew, ...rows] })
    expect(applyToList(once, [anEvent(brandNew, 2)], { app: 'shop' }, true).total).toBe(2)
  })

  test('does not hold a task of a later page', () => {
    const full = Array.from({ length: 50 }, (_, index) => aTask({ id: `n${index}`, created: 9_000 - index }))
    const older = anEvent(aTask({ id: 'older', created: 8_000, status: 'failed' }))
    expect(applyToList({ tasks: full }, [older], {}, true).tasks).toEqual(full)
  })

  test('cuts what has ended before what is in progress, the oldest first', () => {
    const row = (id: number) =>
      aTask({ id: `${id}`, created: id, ...(id % 2 === 0 && { status: 'deployed' as const }) })
    const full = Array.from({ length: 200 }, (_, index) => row(200 - index))
    const { tasks } = applyToList({ tasks: full }, [anEvent(row(202)), anEvent(row(201), 2)], {}, true)
    expect(tasks).toHaveLength(200)
    expect([1, 2, 3, 4, 5, 6, 202].filter((id) => tasks.some((task) => task.id === `${id}`))).toEqual([1, 3, 5, 6, 202])
  })
})

test.for<[Parameters<typeof matches>[1], boolean]>([
  [{}, true],
  [{ status: 'in progress', app: 'shop', project: 'shop', author: 'ada' }, true],
  [{ status: 'failed' }, false],
  [{ app: 'sho' }, false],
  [{ search: 'SHOP:V1.2' }, true],
  [{ search: 'elsewhere' }, false],
  [{ from_timestamp: '1000' }, false],
  [{ from_timestamp: '999', to_timestamp: '1000' }, true],
  [{ to_timestamp: '999' }, false],
  [{ environment: 'production' }, false],
])('a task is matched by %o: %s', ([filters, expected]) => expect(matches(aTask(), filters)).toBe(expected))
