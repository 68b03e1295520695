import { describe, expect, test } from 'vitest'
import type { VersionFilter } from '../../../contract/versions.ts'
import type { TaskAudience } from '../read/describe-task.ts'
import { createListVersions } from './list-versions.ts'

const everything: TaskAudience = { canSeeTasksOf: () => true, canSeeMoreOf: async () => true }

function aReplica(apps: Readonly<Record<string, readonly string[]>>, withTasks: readonly string[] = Object.keys(apps)) {
  let [nowMs, reads] = [100_000, 0]
  let failure: Error | undefined
  let staleSinceMs: number | undefined
  const shown = Object.entries(apps).map(([app, images]) => ({
    app,
    images: new Map(images.map((image) => [image, 40_000])),
    confirmedMs: 90_000,
  }))
  const list = createListVersions({
    shown: { all: () => shown, isTruncated: () => false },
    staleSinceMs: () => staleSinceMs,
    async readTasks() {
      reads += 1
      if (failure) throw failure
      const images = [{ image: 'r/shop', tag: 'v1', id: 't', status: 'deployed' as const, created: 5, ended: 9 }]
      return new Map(withTasks.map((app) => [app, images]))
    },
    match: {
      isOfImage: (image, reference) => reference.startsWith(`${image}:`),
      isRunning: ({ image, tag }, reference) => reference === `${image}:${tag}`,
    },
    nowMs: () => nowMs,
    wallMs: () => nowMs + 1_000_000,
  })
  return {
    list: (filter: VersionFilter = {}, audience = everything) => list(filter, audience, 'one'),
    at: (ms: number) => {
      nowMs = ms
    },
    fail: (error: Error | undefined) => {
      failure = error
    },
    cut: (sinceMs: number) => {
      staleSinceMs = sinceMs
    },
    reads: () => reads,
  }
}

describe('the filters of the versions', () => {
  const { list } = aReplica({ shop: ['r/shop:v2', 'docker.io/Redis:8'], cart: ['r/cart:v1'], empty: [] })
  test.for<[VersionFilter, readonly string[]]>([
    [{}, ['cart r/cart:v1', 'shop docker.io/Redis:8', 'shop r/shop:v2']],
    [{ app: 'shop' }, ['shop docker.io/Redis:8', 'shop r/shop:v2']],
    [{ app: 'sho' }, []],
    [{ image: 'redis' }, ['shop docker.io/Redis:8']],
    [{ search: 'SHOP' }, ['shop docker.io/Redis:8', 'shop r/shop:v2']],
    [{ search: 'r/shop:v2' }, ['shop r/shop:v2']],
    [{ drift: true }, ['shop r/shop:v2']],
    [{ drift: false, search: 'cart' }, ['cart r/cart:v1']],
  ])('%j finds %j', async ([filter, found]) => {
    const { apps, total } = await list(filter)
    expect(apps.flatMap(({ app, images }) => images.map(({ image, tag }) => `${app} ${image}:${tag}`))).toEqual(found)
    expect(total).toBe(apps.length)
  })
})

describe('who sees which versions', () => {
  const { list } = aReplica({ mine: ['r/a:1'], others: ['r/b:1'], 'mine-new': ['r/c:1'], 'others-new': ['r/d:1'] }, [
    'mine',
    'others',
  ])
  const isMine = (app: string) => app.startsWith('mine')
  test.for([
    {
      who: 'an anonymous reader',
      canSeeTasksOf: () => true,
      canSeeMoreOf: async () => false,
      sees: ['mine', 'others'],
    },
    {
      who: 'a scoped token',
      canSeeTasksOf: isMine,
      canSeeMoreOf: async (app: string) => isMine(app),
      sees: ['mine', 'mine-new'],
    },
    { who: 'a user', ...everything, sees: ['mine', 'mine-new', 'others', 'others-new'] },
  ])('$who sees $sees', async ({ sees, ...audience }) => {
    const { apps, total } = await list({}, audience)
    expect(apps.map(({ app }) => app)).toEqual(sees)
    expect(total).toBe(sees.length)
  })
})

test('times are Unix seconds, and the last state is stale from when Argo CD was last heard', async () => {
  const { list, cut } = aReplica({ shop: ['r/shop:v2'] })
  expect(await list()).toMatchObject({
    as_of: 1_100,
    stale: false,
    apps: [{ confirmed: 1_090, images: [{ seen_since: 1_040 }] }],
  })
  cut(95_000)
  expect(await list()).toMatchObject({ stale: true, stale_since: 1_095, apps: [{ app: 'shop' }] })
})

test('the history is read once in five seconds, and again after a read that failed', async () => {
  const { list, at, fail, reads } = aReplica({ shop: ['r/shop:v2'] })
  await Promise.all([list(), list({ search: 'x' })])
  at(104_999)
  await list()
  expect(reads()).toBe(1)
  at(105_000)
  fail(new Error('no database'))
  await expect(list()).rejects.toThrow('no database')
  fail(undefined)
  await list()
  expect(reads()).toBe(3)
})

test('what does not fit into 2 MiB is counted and left out', async () => {
  const image = `r/${'x'.repeat(1_000)}:v1`
  const { list } = aReplica(Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`app-${index}`, [image]])))
  const { apps, total, has_more } = await list()
  expect([total, has_more]).toEqual([2_500, true])
  expect(apps.length).toBeGreaterThan(1_500)
  expect(JSON.stringify(apps).length).toBeLessThanOrEqual(2 * 1024 * 1024)
})
