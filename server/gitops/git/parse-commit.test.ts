import { expect, test } from 'vitest'
import { usedHeap } from '../../../test/support/used-heap.ts'
import { parseCommit } from './parse-commit.ts'

const id = (digit: string) => digit.repeat(40)
const aCommit = (message: string, ...headers: readonly string[]) =>
  [`tree ${id('0')}`, ...headers, 'author a <a@example> 1 +0000', 'committer a <a@example> 1 +0000', '', message].join(
    '\n',
  )

test.for([
  { what: 'no trailer', message: 'set a\n', tasks: [] },
  { what: 'a trailer', message: 'set a\n\nWatcher-Task: t1\n', tasks: ['t1'] },
  { what: 'among others', message: 'set a\n\nmore\n\nSigned-off-by: b\nwatcher-task:  t1 \nX: y\n', tasks: ['t1'] },
  { what: 'several trailers', message: 'set a\n\nWatcher-Task: t1\nWatcher-Task: t2\n\n\n', tasks: ['t1', 't2'] },
  { what: 'a subject that reads as one', message: 'Watcher-Task: t1\n', tasks: [] },
  { what: 'one that is not at the end', message: 'set a\n\nWatcher-Task: t1\n\nmore\n', tasks: [] },
  { what: 'no message', message: '', tasks: [] },
])('the tasks of a commit: $what', ({ message, tasks }) => expect(parseCommit(aCommit(message)).tasks).toEqual(tasks))

test('the parents of a commit are those of its own header', () => {
  const merged = `mergetag object ${id('3')}\n type commit\n \n parent ${id('4')}`
  const text = aCommit(`x\n\nparent ${id('5')}\n`, `parent ${id('1')}`, `parent ${id('2')}`, merged)
  expect(parseCommit(text).parents).toEqual([id('1'), id('2')])
  expect(parseCommit(aCommit('the first\n')).parents).toEqual([])
})

test('a parsed commit does not keep its message in memory', () => {
  const before = usedHeap()
  const parsed = Array.from({ length: 100 }, (_, at) =>
    parseCommit(
      aCommit(`set a\n\n${String(at).repeat(500_000)}\n\nWatcher-Task: task-number-${at}\n`, `parent ${id('1')}`),
    ),
  )
  expect(usedHeap() - before).toBeLessThan(5_000_000) // of 95 MB
  expect(parsed.at(-1)).toEqual({ parents: [id('1')], tasks: ['task-number-99'] })
})
