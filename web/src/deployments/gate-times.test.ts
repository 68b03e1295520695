import { describe, expect, test } from 'vitest'
import { conditionNames } from '../../../contract/conditions.ts'
import { gateTimes } from '../../../contract/gates/gate-times.ts'
import { gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { aDiagnosis, aTask } from './a-task.ts'

const event = (kind: TaskEvent['kind'], at: number): TaskEvent => ({ id: at, task_id: '1', at, kind, detail: '' })
const metSince = (since: readonly number[]) =>
  conditionNames.map((name, index) => {
    const at = since[index]
    return { name, state: at === undefined ? ('not_met' as const) : ('met' as const), since: at ?? 1_000 }
  })

describe('the times of the gates', () => {
  test('of a task that waits for its Pods: what each gate took, and since when it waits', () => {
    const conditions = metSince([990, 990, 1_012, 1_020, 1_019, 1_020])
    const task = aTask({ commit: 'abc', unmet_condition: 'healthy', diagnosis: aDiagnosis({ conditions }) })
    const times = gateTimes(task, gatesOf(task), [event('accepted', 1_000), event('commit_pushed', 1_003)])
    expect(times.map(({ at }) => at)).toEqual([1_000, 1_003, 1_012, 1_020, undefined, undefined])
    expect(times.map(({ tookSeconds }) => tookSeconds)).toEqual([3, 9, 8, undefined, undefined, undefined])
    expect(times.map(({ waitsSince }) => waitsSince)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      1_020,
      undefined,
    ])
  })
  test('of a deployed task all six, in order, though conditions were met before', () => {
    const diagnosis = aDiagnosis({ conditions: metSince([990, 990, 990, 990, 990, 990, 990, 990, 990]) })
    const task = aTask({ status: 'deployed', updated: 1_030, diagnosis })
    const times = gateTimes(task, gatesOf(task), [event('write_back_skipped', 1_001)])
    expect(times.map(({ at }) => at)).toEqual([1_000, 1_001, 1_001, 1_001, 1_001, 1_030])
  })
  test('of a gate that was passed and whose ancestry is looked up again: the first', () => {
    const conditions = metSince([990, 990, 1_104, 1_104, 1_104, 1_104]).map((one, index) =>
      index < 6 ? { ...one, first_met: 1_010 + index } : one,
    )
    const events = [event('commit_pushed', 1_003)]
    for (const state of ['met', 'unknown'] as const) {
      const shown = conditions.map((one) => (one.name === 'revision' ? { ...one, state } : one))
      const unmet = state === 'met' ? 'healthy' : 'revision'
      const task = aTask({ commit: 'abc', unmet_condition: unmet, diagnosis: aDiagnosis({ conditions: shown }) })
      const times = gateTimes(task, gatesOf(task), events)
      expect(times.map(({ at }) => at)).toEqual([1_000, 1_003, 1_012, 1_015, undefined, undefined])
      expect(times[4]?.waitsSince).toBe(1_015)
    }
  })
  test('nothing is claimed that neither the timeline nor the diagnosis tells', () => {
    const task = aTask({ status: 'deployed', updated: 1_030 })
    const times = gateTimes(task, gatesOf(task), [])
    expect(times.map(({ at }) => at)).toEqual([1_000, undefined, undefined, undefined, undefined, 1_030])
  })
})
