import { expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import type { Outcome } from '../follow/outcome.ts'
import { renderJson } from './json.ts'

const task = (fields: Partial<TaskRecord>) => ({ id: '01a2', app: 'shop', ...fields }) as TaskRecord
const read = (outcome: Outcome) => JSON.parse(renderJson([outcome], (id) => `https://w/task/${id}`)).tasks[0]
const known = { id: '01a2', app: 'shop', url: 'https://w/task/01a2' }

test.for<[string, Outcome, object]>([
  ['ended', { kind: 'ended', task: task({ status: 'failed' }) }, { ...known, status: 'failed', exit_code: 1 }],
  ['in progress', { kind: 'ended', task: task({ status: 'in progress' }) }, { ...known, status: 'in progress' }],
  ['submitted', { kind: 'submitted', id: '01a2', app: 'shop' }, { ...known, exit_code: 0 }],
  ['interrupted', { kind: 'interrupted', id: '01a2', app: 'shop' }, { ...known, error: 'interrupted', exit_code: 130 }],
  [
    'interrupted while it was submitted',
    { kind: 'interrupted', app: 'shop' },
    { app: 'shop', error: 'interrupted', exit_code: 130 },
  ],
  [
    'given up',
    { kind: 'gave_up', id: '01a2', task: undefined, why: 'no answer', isGone: false },
    { id: '01a2', url: 'https://w/task/01a2', error: 'no answer', exit_code: 9 },
  ],
  [
    'locked',
    {
      kind: 'rejected',
      app: 'shop',
      exitCode: 6,
      error: 'lockdown is active',
      lock: { until: 7, reason: undefined, setBy: 'ada' },
    },
    { app: 'shop', error: 'lockdown is active', code: 'locked', until: 7, set_by: 'ada', exit_code: 6 },
  ],
])('%s', ([, outcome, record]) => expect(read(outcome)).toEqual(record))

test.for(['a ##[error]b', '##vso[task.setvariable variable=PATH]c', '###[x]'])('%s is no command of a CI', (error) => {
  const outcome = { kind: 'rejected', app: 'shop', exitCode: 5, error } as const
  expect(renderJson([outcome], String)).not.toMatch(/##\w*\[/)
  expect(read(outcome)).toMatchObject({ error })
})
