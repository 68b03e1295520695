import { describe, expect, test } from 'vitest'
import { causes } from '../../../contract/causes.ts'
import type { Diagnosis } from '../../../contract/diagnosis.ts'
import { aDiagnosis, aTask } from './a-task.ts'
import { deadlineOf, rowCause, secondsTaken, supersededBy, verdictWords } from './verdict-words.ts'

describe('what the verdict says', () => {
  const culprit = { kind: 'Pod', namespace: 'shop', name: 'shop-1', container: 'app', message: 'back-off 40s' }

  test('a failed task: the headline of its cause, the message that decided, the culprit, and who does what', () => {
    const next_steps = [{ actor: 'platform_team' as const, text: 'Read the log.' }]
    const diagnosis = aDiagnosis({ culprit, impact: { old_pods_ready: 2, old_pods: 2 }, next_steps })
    expect(verdictWords(aTask({ status: 'failed', cause: 'crash_loop', diagnosis }))).toEqual({
      headline: causes.crash_loop.headline,
      lead: 'Back-off 40s',
      impact: 'The old version still serves: 2 of 2 Pods ready.',
      facts: [
        { name: 'Pod', value: 'shop-1' },
        { name: 'Namespace', value: 'shop' },
        { name: 'Container', value: 'app' },
      ],
      steps: [{ actor: 'platform team', text: 'Read the log.' }],
    })
  })
  test('the headline of the task where there is one, and then only what it does not say', () => {
    const headline = 'Container app crashes on start: exit code 1'
    const task = aTask({
      status: 'failed',
      cause: 'crash_loop',
      headline,
      diagnosis: aDiagnosis({ culprit, headline }),
    })
    expect(verdictWords(task)).toMatchObject({ headline, lead: 'Back-off 40s' })
    expect(rowCause(task)).toBe(headline)
    const said = `Container app crashes on start: ${culprit.message}`
    const brief = aTask({ status: 'failed', headline: said, diagnosis: aDiagnosis({ culprit, headline: said }) })
    expect(verdictWords(brief).lead).toBeUndefined()
  })
  test('a failed task after which another version was deployed: the past, and nothing to do', () => {
    const next_steps = [{ actor: 'developer' as const, text: 'Read the log.' }]
    const diagnosis = aDiagnosis({ impact: { old_pods_ready: 1, old_pods: 1 }, next_steps })
    const deployed_since = { id: 'v1', images: [], ended: 2_000 }
    expect(verdictWords(aTask({ status: 'failed', cause: 'crash_loop', diagnosis, deployed_since }))).toMatchObject({
      headline: 'A container crashed repeatedly after it started',
      impact: 'The old version still served: 1 of 1 Pod was ready.',
      steps: [],
    })
  })
  test('a timeout: the condition that was not met', () => {
    const healthy = { name: 'healthy', state: 'not_met', since: 1, expected: 'Healthy', found: 'Progressing' } as const
    const conditions = [{ name: 'alive', state: 'met', since: 1 } as const, healthy]
    const diagnosis = aDiagnosis({ cause: 'timeout', conditions })
    const task = aTask({ status: 'failed', cause: 'timeout', diagnosis, updated: 901 })
    expect(verdictWords(task).lead).toBe('Healthy: expected Healthy, found Progressing (for 900s)')
  })
  test.for([
    [{ expected: 'Synced', found: 'OutOfSync' }, 'synced', 'Expected Synced, found OutOfSync'],
    [{ expected: 'Healthy', found: 'Progressing' }, 'healthy', undefined], // the headline says it
    [{}, 'operation', undefined],
  ] as const)('a task that waits: %j of %s reads "%s"', ([values, name, lead]) => {
    const pod = { namespace: '', image: 'registry.example/shop:v1.2.3', state: 'Running', restarts: 0 }
    const pods = [true, false].map((ready) => ({ ...pod, name: `shop-${ready}`, ready }))
    const conditions = [{ name, state: 'not_met' as const, since: 1, ...values }]
    const task = aTask({ unmet_condition: name, diagnosis: aDiagnosis({ conditions, pods }) })
    expect(verdictWords(task).lead).toBe(lead)
  })
  test('a superseded task does not name its successor in the headline, but knows its id', () => {
    const diagnosis = aDiagnosis({ superseded_by: { task: '019aa0c5' } })
    const task = aTask({ status: 'cancelled', cause: 'superseded', diagnosis })
    expect(verdictWords(task).headline).toBe('Superseded by a newer deployment')
    expect(supersededBy(task)).toBe('019aa0c5')
  })
  test.for([
    [{ progress: 'Waiting for 2 more Pods' }, 'Waiting for 2 more Pods'],
    [{}, 'Waiting for the first evaluation'],
    [{ progress: '' }, 'Waiting for the first evaluation'],
    [{ status: 'deployed', updated: 1_104 }, 'Deployed in 1 min 44 s'],
    [{ status: 'failed' }, 'The deployment failed'],
    [{ status: 'aborted' }, 'The outcome is unknown'],
    [{ status: 'cancelled' }, 'Cancelled'],
    [{ status: 'app not found' }, causes.app_not_found.headline],
  ] as const)('%j begins "%s"', ([fields, headline]) => {
    expect(verdictWords(aTask(fields)).headline.replaceAll('\u00a0', ' ')).toBe(headline)
  })
})

describe('what a task in progress waits for', () => {
  const pod = { namespace: 'shop', image: 'registry.example/shop:v1.2.3', state: 'Running', restarts: 0 }
  const pods = [
    { ...pod, name: 'shop-1', ready: false },
    { ...pod, name: 'shop-2', ready: true },
    { ...pod, name: 'shop-0', ready: true, image: 'registry.example/shop:v1.2.2' },
  ]
  const crash = { cause: 'crash_loop' as const, pods }
  const away = { evidence: [{ kind: 'unreachable' as const, since: 1, message: 'refused' }], pods }
  test.for([
    ['healthy', { pods }, '1 of 2 Pods ready'],
    ['healthy', {}, 'Waiting for the application to become healthy'],
    ['revision', {}, 'Waiting for Argo CD to pick up the commit'],
    ['healthy', crash, causes.crash_loop.headline],
    ['healthy', { ...crash, headline: 'Container web crashes on start' }, 'Container web crashes on start'],
    ['healthy', away, 'Argo CD is unreachable: refused'],
    ['of_a_newer_service', {}, 'Argo CD is unreachable: refused'],
  ] as const)('%s, %j: "%s"', ([unmet, diagnosis, headline]) => {
    const task = aTask({
      progress: 'Argo CD is unreachable: refused',
      unmet_condition: unmet as 'healthy',
      headline: 'headline' in diagnosis ? diagnosis.headline : undefined,
      diagnosis: aDiagnosis(diagnosis as Partial<Diagnosis>),
    })
    expect(verdictWords(task).headline).toBe(headline)
  })
})

test('that the old version still serves is told from its Pods while nothing holds the task up', () => {
  const old = {
    namespace: 'shop',
    name: 'shop-0',
    image: 'registry.example/shop:v1.2.2',
    state: 'Running',
    restarts: 0,
  }
  const pods = [{ ...old, ready: true }]
  expect(verdictWords(aTask({ diagnosis: aDiagnosis({ pods }) })).impact).toBe(
    'The old version still serves: 1 of 1 Pod ready.',
  )
})

test('a status of a newer service is its own word', () => {
  const task = aTask({ status: 'paused' as 'failed' })
  expect(verdictWords(task).headline).toBe('Ended as “paused”')
})

test('a cancelled task names who cancelled it, or the kind of caller', () => {
  const facts = (cancelled_by: Diagnosis['cancelled_by']) =>
    verdictWords(aTask({ status: 'cancelled', diagnosis: aDiagnosis({ cancelled_by }) })).facts
  expect(facts({ kind: 'session', name: 'ada' })).toEqual([{ name: 'Cancelled by', value: 'ada' }])
  expect(facts({ kind: 'jwt' })).toEqual([{ name: 'Cancelled by', value: 'a caller with a JWT' }])
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

test('the deadline is known where the timeout is', () => {
  expect(deadlineOf(aTask({ timeout: 900 }))).toBe(1_900)
  expect(deadlineOf(aTask())).toBeUndefined()
})
