import { expect, test } from 'vitest'
import { makeTaskId, parseTaskId } from './task-id.ts'

test('a task id is a UUID of version 7 that begins with its millisecond', () => {
  const id = makeTaskId(new Date(0x0123456789ab))
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(parseTaskId(id)).toBe(id)
  expect(parseTaskId(id.toUpperCase())).toBe(id)
})

test('two ids of one millisecond differ', () => {
  const now = new Date()
  expect(makeTaskId(now)).not.toBe(makeTaskId(now))
})

test.for(['', 'not-a-uuid', '..%2f', 'x'.repeat(36), `${makeTaskId(new Date())}0`])('%j is no task id', (text) =>
  expect(parseTaskId(text)).toBeUndefined(),
)
