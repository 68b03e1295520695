import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

/** Work that is done in its turn, and noted. */
function worker() {
  const turns = createTurns()
  const done: string[] = []
  const work = (address: string, name: string) => turns.take(address, async () => void done.push(name))
  return { done, work }
}

test('addresses take turns, and the requests of one stay in order', async () => {
  const { done, work } = worker()
  const names = ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2']
  await Promise.all(names.map((name) => work(name.slice(0, 1), name)))
  expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

test('work that fails gives its turn to the next', async () => {
  const turns = createTurns()
  const outcomes = await Promise.allSettled([
    turns.take('a', () => Promise.reject(new Error('connection lost'))),
    turns.take('b', async () => 'read'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
