import { expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { aTask } from './a-task.ts'
import { gateRows } from './gate-rows.ts'

const event = (kind: TaskEvent['kind'], data: TaskEvent['data'] = {}, detail = ''): TaskEvent => ({
  id: 1,
  task_id: '1',
  at: 1_000,
  kind,
  detail,
  data,
})
const rollout = [
  event('accepted', { images: ['shop:v2'] }),
  event('superseded_others', { superseded: ['1', '2'] }),
  event('application_confirmed', { sync: 'Synced', revisions: ['7e86f04aaaa'] }),
  event('write_back_queued'),
  event('commit_pushed', { commit: 'a62a982', branch: 'main' }),
  event('refresh_requested'),
  event('sync_changed', { sync: 'OutOfSync', revisions: ['a62a982aaaa'] }),
  event('operation_changed', { operation: 'Succeeded' }),
  event('health_changed', { health: 'Progressing' }),
  event('taken_over'),
  event('waiting_for', { cause: 'image_pull', condition: 'images' }),
]
const draw = (fields: Partial<TaskRecord>, events: readonly TaskEvent[]) =>
  gateRows(aTask({ author: 'ada', commit: 'a62a982bbbb', branch: 'main', updated: 1_006, ...fields }), events)

test('a deployed task has a sentence for each gate', () => {
  const rows = draw({ status: 'deployed' }, [...rollout, event('verdict', { status: 'deployed' })])
  expect(rows.map(({ sentence }) => sentence)).toEqual([
    'From ada, in place of 2 older ones',
    'Commit a62a982 on main',
    'Argo CD compares at a62a982',
    'Sync operation succeeded',
    'v1.2.3 runs',
    'Deployed in 6\u00a0s',
  ])
  expect(rows.map(({ steps }) => steps.map(({ kind }) => kind))).toEqual([
    ['accepted', 'superseded_others', 'application_confirmed'],
    ['write_back_queued', 'commit_pushed'],
    ['refresh_requested'],
    ['sync_changed', 'operation_changed'],
    ['health_changed', 'taken_over', 'waiting_for'],
    ['verdict'],
  ])
})

test.for([
  [
    { status: 'failed', cause: 'image_pull', unmet_condition: 'images', headline: 'Image shop:v2 does not exist' },
    ['Healthy', 'Image shop:v2 does not exist', 'Not reached'],
  ],
  [{ status: 'cancelled', unmet_condition: 'images' }, ['Healthy', 'Not watched any more', '']],
  [{ unmet_condition: 'images' }, ['Healthy', 'Waiting for the first evaluation', 'Then a final check']],
] as const)('the last rows of %j, and where its end is told', ([fields, [end, ...last]]) => {
  const rows = draw(fields, [...rollout, event('verdict')])
  expect(rows.find(({ steps }) => steps.some(({ kind }) => kind === 'verdict'))?.gate.name).toBe(end)
  expect(rows.slice(4).map(({ sentence }) => sentence)).toEqual(last)
})

test.for([
  [
    event('commit_unchanged', { branch: 'main' }, 'main has the tags already'),
    'Nothing to commit: main has the tags already',
  ],
  [event('write_back_skipped', {}, 'the application is not managed'), 'The application is not managed'],
  [event('accepted'), 'Not by this service'],
] as const)('without a commit of its own, after $kind', ([last, sentence]) => {
  expect(draw({ status: 'deployed', commit: undefined as never }, [last])[1]?.sentence).toBe(sentence)
})

test('an event that says the sentence of its row again gives the row its time, and is no step of its own', () => {
  const headline = 'Image shop:v2 does not exist'
  const said = { ...event('waiting_for', { cause: 'image_pull', condition: 'images' }, headline), at: 1_003 }
  const fields = { status: 'failed', cause: 'image_pull', unmet_condition: 'images', headline } as const
  const verdict = event('verdict', { status: 'failed', cause: 'image_pull' }, `failed: ${headline} [image_pull]`)
  const row = draw(fields, [...rollout, said, verdict])[4]
  expect(row).toMatchObject({ sentence: headline, saidAt: 1_003 })
  expect(row?.steps.map(({ kind }) => kind)).toEqual(['health_changed', 'taken_over', 'waiting_for'])
})
