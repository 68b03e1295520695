import { describe, expect, test } from 'vitest'
import { type Cause, causeCodes, causeOf } from '../../contract/causes.ts'
import type { TaskRecord } from '../../contract/task.ts'
import { exampleDiagnosis, exampleEndSeconds } from '../../contract/text/example-diagnoses.ts'
import { reportOf } from './report.ts'

const urlOf = (id: string) => `https://watcher.example/task/${id}`
const failed = (cause: Cause, fields: Partial<TaskRecord> = {}): TaskRecord => ({
  id: '01a2',
  created: exampleEndSeconds - 125,
  updated: exampleEndSeconds,
  app: 'shop',
  author: 'ada',
  project: 'shop',
  images: [{ image: 'registry.example/shop', tag: '2' }],
  status: causeOf(cause).status,
  cause,
  diagnosis: exampleDiagnosis(cause),
  pod_log: { pod: 'web-1', lines: Array.from({ length: 20 }, (_, index) => `line ${index}`) },
  ...fields,
})
const linesOf = (task: TaskRecord) => reportOf({ kind: 'ended', task }, urlOf).lines

describe.each(causeCodes)('%s', (cause) => {
  test('has at most 15 lines, and the first says what happened', () => {
    const lines = linesOf(failed(cause))
    expect(lines.length).toBeLessThanOrEqual(15)
    expect(lines[0]).toMatch(/^shop 2 (failed|aborted|cancelled|app not found) after 2m05s: ./)
    expect(lines).toContain('Details: https://watcher.example/task/01a2')
  })
})

test('a crash: culprit, impact, next steps, log, links', () => {
  expect(linesOf(failed('crash_loop')).join('\n')).toMatchInlineSnapshot(`
    "shop 2 failed after 2m05s: Container web crashes on start: exit code 1, 4 times in 2 min
    Culprit: Pod web-74796dcf9f-8ggf2, container web: CrashLoopBackOff: back-off 1m20s restarting failed container=web pod=web-74796dcf9f-8ggf2
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step (developer): Read the log of the container, then its configuration and secrets.
    Next step (developer): Fix it and deploy a new tag.
    Log of Pod web-1:
    | line 15
    | line 16
    | line 17
    | line 18
    | line 19
    Details: https://watcher.example/task/01a2"
  `)
})

test('names that are similar', () => {
  expect(linesOf(failed('app_not_found', { similar_apps: ['shop-eu', 'shop-us'] }))).toContain(
    'Similar names: shop-eu, shop-us',
  )
})

test('a deployment that worked needs no report', () => {
  expect(linesOf(failed('crash_loop', { status: 'deployed' }))).toEqual([])
})

test('the lines of a Pod stand behind a bar, without control characters', () => {
  const lines = ['\u001b[31mred\u0007', '::error::fake', '##[error]fake', 'a\rb\u2028c']
  expect(linesOf(failed('crash_loop', { pod_log: { pod: 'web-1', lines } }))).toEqual(
    expect.arrayContaining(['| [31mred', '| ::error::fake', '| ##[error]fake', '| a b c']),
  )
})

describe('without a verdict', () => {
  test.for([
    [
      'locked for a while',
      { exitCode: 6, error: 'lockdown is active', lock: { until: 1_795_867_200, reason: 'OPS-1', setBy: 'ada' } },
      ['shop not deployed: deployments are locked until 2026-11-28 12:00 UTC by ada: OPS-1'],
    ],
    [
      'locked, nothing known',
      { exitCode: 6, error: 'lockdown is active', lock: { until: undefined, reason: undefined, setBy: undefined } },
      ['shop not deployed: deployments are locked'],
    ],
    [
      'not authorized',
      { exitCode: 4, error: 'credential rejected: expired', advice: 'Check WATCHER_TOKEN.' },
      ['shop not deployed: credential rejected: expired', 'Check WATCHER_TOKEN.'],
    ],
    [
      'not authorized to follow it',
      { id: '01a2', exitCode: 4, error: 'revoked' },
      ['shop cannot be followed: revoked'],
    ],
    [
      'a server that is not the service',
      { id: '01a2', exitCode: 3, error: 'https://w: the host name is unknown' },
      ['shop cannot be followed: https://w: the host name is unknown'],
    ],
    ['rejected', { exitCode: 5, error: 'author: must not be empty' }, ['shop not deployed: author: must not be empty']],
  ] as const)('%s', ([, rejection, lines]) =>
    expect(reportOf({ kind: 'rejected', app: 'shop', ...rejection }, urlOf).lines).toEqual(lines),
  )

  test('gone: nothing is known of the deployment', () => {
    const outcome = { kind: 'gave_up', id: '01a2', task: undefined, why: 'task not found', isGone: true } as const
    expect(reportOf(outcome, urlOf).lines).toEqual(['task 01a2 has no verdict: task not found'])
  })

  test('given up: the deployment goes on', () => {
    const outcome = {
      kind: 'gave_up',
      id: '01a2',
      task: failed('timeout', { status: 'in progress' }),
      why: 'no answer',
      isGone: false,
    } as const
    expect(reportOf(outcome, urlOf)).toMatchObject({
      exitCode: 9,
      lines: [
        'shop 2 has no verdict: no answer',
        'The deployment goes on: https://watcher.example/task/01a2',
        'Follow it with: deployment-watcher wait 01a2',
      ],
    })
  })
})
