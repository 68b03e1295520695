import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createCacheLimit } from './cache-limit.ts'

async function aLimit(limitBytes: number) {
  const root = await mkdtemp(path.join(tmpdir(), 'limit-'))
  onTestFinished(() => rm(root, { recursive: true }))
  let nowMs = 0
  const limit = createCacheLimit({ limitBytes, idleMs: 90_000, nowMs: () => nowMs })
  return {
    limit,
    wait: (ms: number) => {
      nowMs += ms
    },
    left: async () => (await readdir(root)).sort(),
    async cache(name: string, bytes: number) {
      const directory = path.join(root, name)
      await mkdir(path.join(directory, 'objects'), { recursive: true })
      await writeFile(path.join(directory, 'objects', 'pack'), Buffer.alloc(bytes))
      limit.add(directory, () => rm(directory, { recursive: true }))
      return () => limit.noteUse(directory)
    },
  }
}

test('the caches that were not used for the longest time go first, until the rest fits', async () => {
  const { limit, wait, left, cache } = await aLimit(250_000)
  const useA = await cache('a', 100_000)
  wait(1_000)
  await cache('b', 100_000)
  wait(1_000)
  await cache('c', 100_000)
  wait(1_000)
  useA()
  wait(100_000)
  await limit.trim()
  expect(await left()).toEqual(['a', 'c'])
})

test('what may be in use stays, and what fits too', async () => {
  const { limit, wait, left, cache } = await aLimit(50_000)
  const use = await cache('a', 100_000)
  wait(89_000)
  await limit.trim()
  use()
  wait(89_000)
  await limit.trim()
  expect(await left()).toEqual(['a'])
  wait(2_000)
  await limit.trim()
  expect(await left()).toEqual([])
})
