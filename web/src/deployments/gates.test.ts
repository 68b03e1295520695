import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import { aTask } from './a-task.ts'
import { gatesOf, sayGates } from './gates.ts'

const drawn = { done: '=', now: 'o', stop: 'x', ahead: '.' }
const draw = (task: TaskRecord) =>
  gatesOf(task)
    .map(({ state }) => drawn[state])
    .join('')

describe('the gates of a task in progress', () => {
  test.for([
    [{}, '=.....', 'At least 1 of 6 gates passed'],
    [{ progress: 'waiting for the commit to be pushed' }, '=o....', 'Waiting at gate 2 of 6: Committed'],
    [{ commit: 'abc1234' }, '==....', 'At least 2 of 6 gates passed'],
    [
      { commit: 'abc1234', progress: 'waiting for Argo CD to compare with commit abc1234' },
      '==o...',
      'Waiting at gate 3 of 6: Picked up',
    ],
    [{ progress: 'sync status Synced, not OutOfSync' }, '===o..', 'Waiting at gate 4 of 6: Synced'],
    [{ progress: 'Waiting for 2 more Pods to become ready' }, '====o.', 'Waiting at gate 5 of 6: Healthy'],
    [{ progress: 'settling: all gates are open for 1 s' }, '=====o', 'Waiting at gate 6 of 6: Settled'],
    [{ progress: 'thinking' }, '=.....', 'At least 1 of 6 gates passed'],
  ] as const)('%j are %s', ([fields, picture, words]) => {
    const task = aTask(fields)
    expect(draw(task)).toBe(picture)
    expect(sayGates(task, gatesOf(task))).toBe(words)
  })
})

describe('the gates of an ended task', () => {
  test.for([
    [{ status: 'deployed' }, '======', 'All 6 gates passed'],
    [{ status: 'failed', cause: 'crash_loop' }, '====x.', 'Stopped at gate 5 of 6: Healthy'],
    [{ status: 'failed', cause: 'git_refused' }, '=x....', 'Stopped at gate 2 of 6: Committed'],
    [{ status: 'failed', cause: 'timeout', commit: 'abc1234' }, '==....', 'At least 2 of 6 gates passed'],
    [{ status: 'aborted', cause: 'controller_unreachable' }, '=.....', 'At least 1 of 6 gates passed'],
    [{ status: 'app not found', cause: 'app_not_found' }, 'x.....', 'Ended at gate 1 of 6: Accepted'],
    [{ status: 'cancelled', cause: 'superseded' }, '=.....', 'At least 1 of 6 gates passed'],
  ] as const)('%j are %s', ([fields, picture, words]) => {
    const task = aTask(fields)
    expect(draw(task)).toBe(picture)
    expect(sayGates(task, gatesOf(task))).toBe(words)
  })
})
