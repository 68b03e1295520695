import { describe, expect, test } from 'vitest'
import type { ConditionName } from '../../../contract/conditions.ts'
import { gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { aDiagnosis, aTask } from './a-task.ts'
import { describeGates } from './describe-gates.ts'

const drawn = { done: '=', now: 'o', stop: 'x', ahead: '.' }
const draw = (task: TaskRecord) =>
  gatesOf(task)
    .map(({ state }) => drawn[state])
    .join('')

const unmet = (unmet_condition: ConditionName) => ({ unmet_condition })
const committing = aDiagnosis({ evidence: [{ kind: 'commit_pending' }] })
const settling = aDiagnosis({ conditions: [{ name: 'alive', state: 'met', since: 1_000 }] })
const waiting = { name: 'healthy', state: 'not_met', since: 1_000 } as const
const lookedUp = aDiagnosis({ conditions: [{ name: 'revision', state: 'unknown', since: 1_000 }, waiting] })
const lookedUpAgain = aDiagnosis({
  conditions: [{ name: 'revision', state: 'unknown', since: 1_000, first_met: 1_000 }, waiting],
})

describe('the gates of a task in progress', () => {
  test.for([
    [{}, '=.....', 'At least 1 of 6 gates passed'],
    [{ commit: 'abc1234' }, '==....', 'At least 2 of 6 gates passed'],
    [{ diagnosis: committing }, '=o....', 'Waiting at gate 2 of 6: Committed'],
    [unmet('alive'), '==o...', 'Waiting at gate 3 of 6: Picked up'],
    [unmet('no_errors'), '==o...', 'Waiting at gate 3 of 6: Picked up'],
    [unmet('revision'), '==o...', 'Waiting at gate 3 of 6: Picked up'],
    [unmet('synced'), '===o..', 'Waiting at gate 4 of 6: Synced'],
    [unmet('operation'), '===o..', 'Waiting at gate 4 of 6: Synced'],
    [unmet('compared_after_operation'), '===o..', 'Waiting at gate 4 of 6: Synced'],
    [unmet('healthy'), '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [unmet('images'), '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [unmet('no_old_pods'), '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [{ diagnosis: settling }, '=====o', 'Waiting at gate 6 of 6: Settled'],
    [{ ...unmet('revision'), diagnosis: lookedUpAgain }, '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [{ ...unmet('revision'), diagnosis: lookedUp }, '==o...', 'Waiting at gate 3 of 6: Picked up'],
    [{ unmet_condition: 'of_a_newer_service' as ConditionName }, '=.....', 'At least 1 of 6 gates passed'],
  ] as const)('%j are %s', ([fields, picture, words]) => {
    const task = aTask(fields)
    expect(draw(task)).toBe(picture)
    expect(describeGates(task, gatesOf(task))).toBe(words)
  })
})

describe('the gates of an ended task', () => {
  test.for([
    [{ status: 'deployed' }, '======', 'All 6 gates passed'],
    [{ status: 'failed', cause: 'crash_loop', ...unmet('healthy') }, '====x.', 'Stopped at gate 5 of 6: Healthy'],
    [{ status: 'failed', cause: 'git_refused' }, '=x....', 'Stopped at gate 2 of 6: Committed'],
    [{ status: 'failed', cause: 'timeout', commit: 'abc1234' }, '==....', 'At least 2 of 6 gates passed'],
    [{ status: 'failed', cause: 'timeout', ...unmet('synced') }, '===x..', 'Stopped at gate 4 of 6: Synced'],
    [{ status: 'aborted', cause: 'controller_unreachable' }, '=.....', 'At least 1 of 6 gates passed'],
    [{ status: 'app not found', cause: 'app_not_found' }, 'x.....', 'Ended at gate 1 of 6: Accepted'],
    [{ status: 'cancelled', cause: 'superseded' }, '=.....', 'At least 1 of 6 gates passed'],
    [{ status: 'cancelled', commit: 'abc1234', ...unmet('healthy') }, '====..', 'At least 4 of 6 gates passed'],
  ] as const)('%j are %s', ([fields, picture, words]) => {
    const task = aTask(fields)
    expect(draw(task)).toBe(picture)
    expect(describeGates(task, gatesOf(task))).toBe(words)
  })
})
