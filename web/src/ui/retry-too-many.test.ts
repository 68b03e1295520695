import { expect, test } from 'vitest'
import { AnswerError } from './read-json.ts'
import { retryTooMany } from './retry-too-many.ts'

test.for([
  { error: new AnswerError(429, 'too many', 2), failures: 0, retries: true },
  { error: new AnswerError(429, 'too many', 2), failures: 5, retries: false },
  { error: new AnswerError(503, 'away', 2), failures: 0, retries: false },
  { error: new Error('no answer'), failures: 0, retries: false },
])('$error after $failures failures is asked again: $retries', ({ error, failures, retries }) =>
  expect(retryTooMany.retry(failures, error)).toBe(retries),
)

test('it waits as long as Retry-After says, else a second', () => {
  expect(retryTooMany.retryDelay(0, new AnswerError(429, 'too many', 30))).toBeGreaterThan(25_000)
  expect(retryTooMany.retryDelay(0, new AnswerError(429, 'too many', 30))).toBeLessThanOrEqual(30_000)
  expect(retryTooMany.retryDelay(0, new AnswerError(429, 'too many'))).toBe(1_000)
})
