import { expect, test } from 'vitest'
import { aTask } from './a-task.ts'
import { summarizeChanges } from './summarize-changes.ts'

test('counts what ended, status by status', () => {
  const before = ['1', '2', '3', '4'].map((id) => aTask({ id }))
  const after = [
    aTask({ id: '1', status: 'failed' }),
    aTask({ id: '2', status: 'deployed' }),
    aTask({ id: '3', status: 'deployed' }),
    aTask({ id: '4', progress: 'waiting' }),
    aTask({ id: '5', status: 'cancelled' }),
  ]
  expect(summarizeChanges(before, after)).toBe('2 deployed, 1 failed')
  expect(summarizeChanges(after, after)).toBe('')
})
