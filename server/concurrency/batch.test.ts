import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { createBatcher } from './batch.ts'

/** Work that notes its batches and ends when it is told to. */
function someWork(refuse: (item: string) => boolean = () => false, code = '22P02') {
  const batches: string[][] = []
  const work = async (items: readonly string[]) => {
    batches.push([...items])
    await new Promise((resolve) => setImmediate(resolve))
    if (items.some(refuse)) throw Object.assign(new DatabaseError('refused', 7, 'error'), { code })
    return items.map((item) => item.toUpperCase())
  }
  return { batches, work }
}
const anyKey = {
  atMost: 10,
  atOnce: 1,
  keyOf: (item: string) => item,
}

test('what comes while a batch runs is the next one, and everybody gets his own result', async () => {
  const { batches, work } = someWork()
  const run = createBatcher(work, anyKey)
  const first = run('a')
  await expect.poll(() => batches).toEqual([['a']])
  expect(await Promise.all([first, run('b'), run('c')])).toEqual(['A', 'B', 'C'])
  expect(batches).toEqual([['a'], ['b', 'c']])
})

test.for<[string, { atMost?: number; atOnce?: number }, string[], string[][]]>([
  ['holds so many items at most', { atMost: 2 }, ['a', 'b', 'c'], [['a', 'b'], ['c']]],
  ['holds one item of a key', {}, ['a', 'a', 'b'], [['a', 'b'], ['a']]],
  ['waits for none where several may run', { atMost: 1, atOnce: 2 }, ['a', 'b'], [['a'], ['b']]],
])('a batch %s', async ([, change, items, expected]) => {
  const { batches, work } = someWork()
  const run = createBatcher(work, { ...anyKey, ...change })
  await Promise.all(items.map(run))
  expect(batches).toEqual(expected)
})

test('an item that the database refuses harms no other one', async () => {
  const { batches, work } = someWork((item) => item === 'bad')
  const run = createBatcher(work, anyKey)
  const [bad, ...others] = await Promise.allSettled(['bad', 'a', 'b'].map(run))
  expect([bad?.status, ...others]).toEqual([
    'rejected',
    { status: 'fulfilled', value: 'A' },
    { status: 'fulfilled', value: 'B' },
  ])
  expect(batches).toEqual([['bad', 'a', 'b'], ['bad'], ['a'], ['b']])
})

test('a batch does not wait for the items of a refused one', async () => {
  const { work } = someWork((item) => item === 'bad')
  const mayEnd = Promise.withResolvers<void>()
  const slowAlone: typeof work = async (items) => {
    if (items.length === 1 && items[0] === 'bad') await mayEnd.promise
    return work(items)
  }
  const run = createBatcher(slowAlone, anyKey)
  const [bad, good] = ['bad', 'a'].map(run)
  expect(await good).toBe('A')
  expect(await run('c')).toBe('C')
  mayEnd.resolve()
  await expect(bad).rejects.toThrow('refused')
})

test.for(['08006', '57P01'])('after %s nobody knows what was done, so nothing is done again', async (code) => {
  const { batches, work } = someWork(() => true, code)
  const run = createBatcher(work, anyKey)
  const results = await Promise.allSettled(['a', 'b'].map(run))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(batches).toHaveLength(1)
})
