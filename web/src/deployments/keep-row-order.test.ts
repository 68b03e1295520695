import { expect, test } from 'vitest'
import { aTask } from './a-task.ts'
import { keepRowOrder } from './keep-row-order.ts'

const [one, two, three] = ['1', '2', '3'].map((id) => aTask({ id }))
if (!one || !two || !three) throw new Error('three tasks are needed')

test('a new task waits and the old rows keep their places', () => {
  const kept = keepRowOrder([two, one], [three, two, one])
  expect(kept.rows).toEqual([two, one])
  expect(kept.waiting).toEqual([three])
})

test('a row shows what is newest of it', () => {
  const done = aTask({ id: '1', status: 'deployed' })
  expect(keepRowOrder([two, one], [two, done]).rows).toEqual([two, done])
})

test('an unfinished row that left the answer is to be read by itself; a finished one needs no reading', () => {
  const done = aTask({ id: '2', status: 'failed' })
  const kept = keepRowOrder([done, one], [])
  expect(kept.rows).toEqual([done, one])
  expect(kept.lost).toEqual(['1'])
})
