import { expect, test } from 'vitest'
import { beforeCommit, judge, succeeded } from '../../../test/support/judge-looks.ts'

test('a rollout in progress is not evaluated at 30 s, which matters only beside another tag', () => {
  const look = { atMs: 29_000, version: 20, health: 'Progressing', operationState: succeeded }
  expect(judge([beforeCommit, look]).againAtMs).toBeGreaterThan(30_000)
})
