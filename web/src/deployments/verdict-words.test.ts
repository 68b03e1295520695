import { describe, expect, test } from 'vitest'
import { causes } from '../../../contract/cause.ts'
import { aTask } from './a-task.ts'
import { causeWords } from './cause-words.ts'
import { deadlineOf, rowCause, secondsTaken, supersededBy, verdictWords } from './verdict-words.ts'

describe('what the verdict says', () => {
  test('a failed task: the cause, then the first line of the reason, then the evidence', () => {
    const words = verdictWords(
      aTask({
        status: 'failed',
        cause: 'crash_loop',
        status_reason: 'Pod shop-1 crashes\nContainer: app\n\nExit code: 1',
      }),
    )
    expect(words.headline).toBe('A container crashes right after it starts')
    expect(words.lead).toBe('Pod shop-1 crashes')
    expect(words.evidence).toEqual([
      { name: 'Container', value: 'app' },
      { name: 'Exit code', value: '1' },
    ])
    expect(words.todo).toEqual(causeWords.crash_loop.todo)
  })
  test('what the reason says to do is better than what the cause does', () => {
    const words = verdictWords(
      aTask({ status: 'failed', cause: 'timeout', status_reason: 'x\nWhat to do: Resume it.' }),
    )
    expect(words.todo).toEqual(['Resume it.'])
  })
  test('of several waits the first is the headline', () => {
    const words = verdictWords(
      aTask({ progress: 'waiting for sync status Synced, not OutOfSync; health status Healthy' }),
    )
    expect(words.headline).toBe('Waiting for sync status Synced, not OutOfSync')
    expect(words.lead).toBe('Also: health status Healthy')
  })
  test('a superseded task does not name its successor in the headline, but knows its id', () => {
    const id = '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11'
    const task = aTask({ status: 'cancelled', cause: 'superseded', status_reason: `superseded by task ${id}` })
    expect(verdictWords(task)).toMatchObject({ headline: 'Superseded by a newer task', lead: undefined })
    expect(supersededBy(task)).toBe(id)
    expect(supersededBy({ ...task, cause: 'cancelled' })).toBeUndefined()
  })
  test('without a cause the first line is the headline, once', () => {
    expect(verdictWords(aTask({ status: 'failed', status_reason: 'It broke' }))).toEqual({
      headline: 'It broke',
      lead: undefined,
      evidence: [],
      todo: [],
    })
  })
  test.for([
    [{ progress: 'Waiting for 2 more Pods' }, 'Waiting for 2 more Pods'],
    [{}, 'Waiting for the first look at the application'],
    [{ progress: '' }, 'Waiting for the first look at the application'],
    [{ status: 'deployed', updated: 1_104 }, 'Deployed in 1 min 44 s'],
    [{ status: 'failed' }, 'The deployment failed'],
    [{ status: 'aborted' }, 'The outcome is unknown'],
    [{ status: 'cancelled' }, 'Cancelled'],
    [{ status: 'app not found' }, 'Argo CD has no application of this name'],
  ] as const)('%j begins "%s"', ([fields, headline]) => {
    expect(verdictWords(aTask(fields)).headline.replaceAll('\u00a0', ' ')).toBe(headline)
  })
})

describe('the second line of a row', () => {
  test.for([
    [{ progress: 'Waiting' }, undefined],
    [{ status: 'deployed' }, undefined],
    [{ status: 'deployed', is_rollback: true }, 'Rollback'],
    [{ status: 'failed', cause: 'timeout', status_reason: 'closed: H' }, causeWords.timeout.headline],
    [{ status: 'cancelled', cause: 'superseded', status_reason: 'Superseded by v7.0.3' }, 'Superseded by v7.0.3'],
    [{ status: 'cancelled', cause: 'superseded' }, 'Superseded by a newer deployment'],
  ] as const)('of %j is %s', ([fields, line]) => expect(rowCause(aTask(fields))).toBe(line))
})

test('every cause has a headline that is one short sentence without a full stop', () => {
  for (const cause of causes) expect(causeWords[cause].headline, cause).toMatch(/^[A-Z].{8,62}[^.!?]$/)
})

test('the time taken counts on until the end', () => {
  expect(secondsTaken(aTask(), 1_072)).toBe(72)
  expect(secondsTaken(aTask({ status: 'failed', updated: 1_009 }), 9_999)).toBe(9)
})

test('the deadline is known where the time-out is', () => {
  expect(deadlineOf(aTask({ timeout: 900 }))).toBe(1_900)
  expect(deadlineOf(aTask())).toBeUndefined()
})
