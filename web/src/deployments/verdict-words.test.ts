import { describe, expect, test } from 'vitest'
import { causes } from '../../../contract/causes.ts'
import { aDiagnosis, aTask } from './a-task.ts'
import { deadlineOf, rowCause, secondsTaken, supersededBy, verdictWords } from './verdict-words.ts'

describe('what the verdict says', () => {
  const culprit = { kind: 'Pod', namespace: 'shop', name: 'shop-1', container: 'app', message: 'back-off 40s' }

  test('a failed task: the headline of its cause, the message that decided, the culprit, and who does what', () => {
    const next_steps = [{ actor: 'platform_team' as const, text: 'Read the log.' }]
    const diagnosis = aDiagnosis({ culprit, impact: { old_pods_ready: 2, old_pods: 2 }, next_steps })
    expect(verdictWords(aTask({ status: 'failed', cause: 'crash_loop', diagnosis }))).toEqual({
      headline: causes.crash_loop.headline,
      lead: 'Pod shop-1, container app: back-off 40s',
      facts: [
        { name: 'Pod', value: 'shop-1' },
        { name: 'Namespace', value: 'shop' },
        { name: 'Container', value: 'app' },
        { name: 'Impact', value: 'the old version still serves: 2 of 2 Pods ready' },
      ],
      steps: [{ actor: 'platform team', text: 'Read the log.' }],
    })
  })
  test('a timeout: the condition that was not met', () => {
    const healthy = { name: 'healthy', state: 'not_met', since: 1, expected: 'Healthy', found: 'Progressing' } as const
    const conditions = [{ name: 'alive', state: 'met', since: 1 } as const, healthy]
    const diagnosis = aDiagnosis({ cause: 'timeout', conditions })
    const task = aTask({ status: 'failed', cause: 'timeout', diagnosis, updated: 901 })
    expect(verdictWords(task).lead).toBe('Healthy: expected Healthy, found Progressing (for 900s)')
  })
  test('a superseded task does not name its successor in the headline, but knows its id', () => {
    const diagnosis = aDiagnosis({ superseded_by: { task: '019aa0c5' } })
    const task = aTask({ status: 'cancelled', cause: 'superseded', diagnosis })
    expect(verdictWords(task).headline).toBe('Superseded by a newer deployment')
    expect(supersededBy(task)).toBe('019aa0c5')
  })
  test.for([
    [{ progress: 'Waiting for 2 more Pods' }, 'Waiting for 2 more Pods'],
    [{}, 'Waiting for the first look at the application'],
    [{ progress: '' }, 'Waiting for the first look at the application'],
    [{ status: 'deployed', updated: 1_104 }, 'Deployed in 1 min 44 s'],
    [{ status: 'failed' }, 'The deployment failed'],
    [{ status: 'aborted' }, 'The outcome is unknown'],
    [{ status: 'cancelled' }, 'Cancelled'],
    [{ status: 'app not found' }, causes.app_not_found.headline],
  ] as const)('%j begins "%s"', ([fields, headline]) => {
    expect(verdictWords(aTask(fields)).headline.replaceAll('\u00a0', ' ')).toBe(headline)
  })
})

describe('the second line of a row', () => {
  test.for([
    [{ progress: 'Waiting' }, undefined],
    [{ status: 'deployed' }, undefined],
    [{ status: 'deployed', is_rollback: true }, 'Rollback'],
    [{ status: 'failed', cause: 'timeout' }, causes.timeout.headline],
    [{ status: 'cancelled', cause: 'superseded' }, 'Superseded by a newer deployment'],
  ] as const)('of %j is %s', ([fields, line]) => expect(rowCause(aTask(fields))).toBe(line))
})

test('the time taken counts on until the end', () => {
  expect(secondsTaken(aTask(), 1_072)).toBe(72)
  expect(secondsTaken(aTask({ status: 'failed', updated: 1_009 }), 9_999)).toBe(9)
})

test('the deadline is known where the time-out is', () => {
  expect(deadlineOf(aTask({ timeout: 900 }))).toBe(1_900)
  expect(deadlineOf(aTask())).toBeUndefined()
})
