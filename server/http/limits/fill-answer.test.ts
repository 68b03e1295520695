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
  const filled = ['first', 'second', 'third'].map((name) => fillAnswer('192.0.2.1', async () => chunks(name)))
  const outcomes = await Promise.allSettled(filled)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(read).toEqual(['first 1', 'second 1', 'second 2', 'third 1', 'third 2'])
})

test('a twelfth answer for one address is rejected with 429 before anything is read, and another address is served', async () => {
  const found: string[] = []
  const ask = (address: string) =>
    fillAnswer(address, async () => {
      found.push(address)
      return [[address]]
    })
  const served = Array.from({ length: 11 }, () => ask('192.0.2.1'))
  const rejected = ask('192.0.2.1')
  const other = ask('192.0.2.2')
  await expect(rejected).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '1' } })
  await Promise.all([...served, other])
  expect(found).toHaveLength(12)
  expect(found.indexOf('192.0.2.2')).toBeLessThan(3)
  await ask('192.0.2.1')
})
