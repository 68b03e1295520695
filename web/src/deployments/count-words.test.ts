import { expect, test } from 'vitest'
import type { TaskCounts } from '../../../contract/task-counts.ts'
import { countOf, countWords, shortCount } from './count-words.ts'

const counts: TaskCounts = {
  counts: { 'in progress': 4, deployed: 10_000, failed: 312, aborted: 0, cancelled: 48, 'app not found': 7 },
  capped: ['deployed'],
}

test.for([
  [['failed'], '312', '312'],
  [['failed', 'cancelled'], '360', '360'],
  [['deployed'], 'more than 10,000', '10,000+'],
  [[], 'more than 10,371', '10,371+'],
] as const)('tasks that are %j are %s, in short %s', ([statuses, words, short]) => {
  const count = countOf(counts, statuses)
  expect([count && countWords(count), count && shortCount(count)]).toEqual([words, short])
})

test('counts that were not read are left out', () => expect(countOf(undefined, ['failed'])).toBeUndefined())
