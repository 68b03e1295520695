import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import { aTask } from './a-task.ts'
import { describeGates, gatesOf } from './gates.ts'

const drawn = { done: '=', now: 'o', stop: 'x', ahead: '.' }
const draw = (task: TaskRecord) =>
  gatesOf(task)
    .map(({ state }) => drawn[state])
    .join('')

describe('the gates of a task in progress', () => {
  test.for([
    [{}, '=.....', 'At least 1 of 6 gates passed'],
    [{ progress: 'waiting for the commit to reach the Git host' }, '=o....', 'Waiting at gate 2 of 6: Committed'],
    [{ commit: 'abc1234' }, '==....', 'At least 2 of 6 gates passed'],
    [{ progress: 'waiting for a refresh to be answered' }, '==o...', 'Waiting at gate 3 of 6: Picked up'],
    [
      {
        commit: 'abc1234',
        progress: 'waiting for revision abc1234 or later, not 77aa000; health status Healthy, not none',
      },
      '==o...',
      'Waiting at gate 3 of 6: Picked up',
    ],
    [{ progress: 'ComparisonError: cannot read the values' }, '==o...', 'Waiting at gate 3 of 6: Picked up'],
    [{ progress: 'waiting for sync status Synced, not OutOfSync' }, '===o..', 'Waiting at gate 4 of 6: Synced'],
    [{ progress: 'waiting for a comparison after the operation' }, '===o..', 'Waiting at gate 4 of 6: Synced'],
    [{ progress: 'manual sync required: automated sync is off' }, '===o..', 'Waiting at gate 4 of 6: Synced'],
    [{ progress: 'waiting for health status Healthy, not Progressing' }, '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [{ progress: 'the application is Suspended (paused)' }, '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [{ progress: 'waiting for the final check' }, '=====o', 'Waiting at gate 6 of 6: Settled'],
    [{ progress: 'Argo CD is unreachable: refresh failed' }, '=.....', 'At least 1 of 6 gates passed'],
    [{ progress: 'looking for the application' }, '=.....', 'At least 1 of 6 gates passed'],
    [{ progress: 'thinking' }, '=.....', 'At least 1 of 6 gates passed'],
  ] as const)('%j are %s', ([fields, picture, words]) => {
    const task = aTask(fields)
    expect(draw(task)).toBe(picture)
    expect(describeGates(task, gatesOf(task))).toBe(words)
  })
})

describe('the gates of an ended task', () => {
  test.for([
    [{ status: 'deployed' }, '======', 'All 6 gates passed'],
    [{ status: 'failed', cause: 'crash_loop' }, '====x.', 'Stopped at gate 5 of 6: Healthy'],
    [{ status: 'failed', cause: 'git_refused' }, '=x....', 'Stopped at gate 2 of 6: Committed'],
    [{ status: 'failed', cause: 'timeout', commit: 'abc1234' }, '==....', 'At least 2 of 6 gates passed'],
    [
      { status: 'failed', cause: 'timeout', status_reason: 'x\nWaited for (gate I): shop\nWaited for (gate S): y' },
      '===x..',
      'Stopped at gate 4 of 6: Synced',
    ],
    [{ status: 'aborted', cause: 'controller_unreachable' }, '=.....', 'At least 1 of 6 gates passed'],
    [{ status: 'app not found', cause: 'app_not_found' }, 'x.....', 'Ended at gate 1 of 6: Accepted'],
    [{ status: 'cancelled', cause: 'superseded' }, '=.....', 'At least 1 of 6 gates passed'],
  ] as const)('%j are %s', ([fields, picture, words]) => {
    const task = aTask(fields)
    expect(draw(task)).toBe(picture)
    expect(describeGates(task, gatesOf(task))).toBe(words)
  })
})
