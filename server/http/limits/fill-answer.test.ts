import { expect, test } from 'vitest'
import { fillAnswer } from './fill-answer.ts'

test('one answer is filled at a time, also after one that failed', async () => {
  const read: string[] = []
  async function* chunks(name: string) {
    for (const part of [1, 2]) {
      read.push(`${name} ${part}`)
      yield [name]
      if (name === 'first') throw new Error('connection lost')
    }
  }
  const filled = ['first', 'second', 'third'].map((name) => fillAnswer('192.0.2.1', chunks(name)))
  const outcomes = await Promise.allSettled(filled)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(read).toEqual(['first 1', 'second 1', 'second 2', 'third 1', 'third 2'])
})
