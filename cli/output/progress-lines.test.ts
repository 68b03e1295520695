import { expect, test } from 'vitest'
import type { TaskEvent, TaskEventData } from '../../contract/task-event.ts'
import { createProgressLines } from './progress-lines.ts'

const event = (kind: string, data?: TaskEventData) =>
  ({ id: 1, task_id: '', at: 0, kind, detail: 'a text that is not read', ...(data ? { data } : {}) }) as TaskEvent
const linesOf = (...events: TaskEvent[]) => {
  const lines = createProgressLines()
  return events.flatMap(lines.of)
}
const commit = '3f2c1ab0000000000000000000000000000000ab'
const confirmed = event('application_confirmed', {
  application: 'argocd/shop',
  sync: 'Synced',
  health: 'Healthy',
  revisions: ['old'],
})
const pushed = event('commit_pushed', { commit, branch: 'main' })

test('a deployment with a commit', () => {
  expect(
    linesOf(
      event('accepted'),
      event('superseded_others', { superseded: ['a', 'b'] }),
      confirmed,
      event('write_back_queued'),
      pushed,
      event('operation_changed', { sync: 'OutOfSync', operation: 'Running', revisions: [commit] }),
      event('sync_changed', { sync: 'Synced', operation: 'Succeeded', health: 'Progressing' }),
      event('health_changed', { health: 'Healthy' }),
      event('verdict', { status: 'deployed' }),
    ),
  ).toEqual([
    'replaces 2 older deployments',
    'committed 3f2c1ab to main',
    'Argo CD picked it up',
    'synced',
    'health: Progressing',
    'health: Healthy',
  ])
})

test('a deployment that somebody else commits', () => {
  expect(
    linesOf(
      confirmed,
      event('write_back_skipped', { cause: 'no_credential' }),
      event('sync_changed', { sync: 'OutOfSync' }),
      event('sync_changed', { sync: 'Synced' }),
    ),
  ).toEqual([
    'not committed: No credential came with the deployment, so nothing was committed',
    'out of sync',
    'synced',
  ])
})

test.for([
  [
    'nothing to commit',
    event('commit_unchanged', { branch: 'main' }),
    'nothing to commit: main has these tags already',
  ],
  ['a commit that is tried again', event('write_back_retry'), 'the commit failed; it is tried again'],
  ['a failed operation', event('operation_changed', { operation: 'Failed' }), 'sync operation failed'],
  ['what holds it up', event('waiting_for', { cause: 'image_pull' }), 'The image cannot be pulled'],
  ['what it waits for', event('waiting_for', { condition: 'no_old_pods' }), 'waiting for the old Pods to end'],
  ['a cause of a later version', event('waiting_for', { cause: 'moon_phase' as never }), 'moon_phase'],
] as const)('%s', ([, one, line]) => expect(linesOf(one)).toEqual([line]))

test.for([
  ['a condition of a later version', event('waiting_for', { condition: 'tide' as never })],
  ['an event of a later version', event('moon_rises', { health: 'Healthy' })],
  ['an event without values, of an older version', event('sync_changed')],
  ['the state before the deployment', confirmed],
] as const)('%s says nothing', ([, one]) => expect(linesOf(one)).toEqual([]))

test('nothing is said twice', () => {
  const waits = event('waiting_for', { condition: 'healthy' })
  const syncs = event('sync_changed', { sync: 'Synced', revisions: [commit] })
  expect(linesOf(pushed, syncs, syncs, waits, waits)).toHaveLength(4)
})
