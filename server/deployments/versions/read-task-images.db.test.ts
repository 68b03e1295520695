import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { storeTasks } from '../../../test/support/store-tasks.ts'
import { createReadTaskImages } from './read-task-images.ts'

const { database } = await openFileDatabase()
const at = 1_700_000_000
const [shop, worker] = ['registry.example/shop', 'registry.example/worker']

const confirm = (...apps: readonly string[]) =>
  database.query
    .insertInto('confirmed_applications')
    .values(apps.map((app) => ({ app })))
    .execute()

test('the newest tasks of every tag that is looked for, and the newest that deployed an image', async () => {
  const ids = await storeTasks(
    database,
    [
      { images: [{ image: shop, tag: 'v1' }] },
      {
        images: [
          { image: shop, tag: 'v2' },
          { image: worker, tag: 'v2' },
        ],
      },
      { images: [{ image: shop, tag: 'v1' }] },
      { images: [{ image: shop, tag: 'v3' }] },
      { images: [{ image: shop, tag: 'v4' }], status: 'failed' as const },
      { images: [{ image: shop, tag: 'v4' }], status: 'cancelled' as const },
      { images: [{ image: shop, tag: 'v6' }], status: 'failed' as const },
      { images: [{ image: shop, tag: 'v5' }], status: 'in progress' as const },
    ].map((task, index) => ({ created: at + index * 100, app: 'shop', ...task })),
  )
  await storeTasks(database, [{ created: at, app: 'invented' }])
  await confirm('shop')
  const found = await createReadTaskImages(database.query)([
    { app: 'shop', tags: ['v1', 'v4', 'v5'] },
    { app: 'invented', tags: ['v1'] },
    { app: 'without-a-task', tags: [] },
  ])
  const task = (index: number, image: string, tag: string, status = 'deployed') => ({
    image,
    tag,
    id: ids[index],
    status,
    created: at + index * 100,
    ended: status === 'in progress' ? null : at + index * 100 + 30,
  })
  expect([...found.keys()]).toEqual(['shop'])
  expect(found.get('shop')).toEqual([
    task(2, shop, 'v1'),
    task(4, shop, 'v4', 'failed'),
    task(7, shop, 'v5', 'in progress'),
    task(3, shop, 'v3'),
    task(1, worker, 'v2'),
  ])
})

test('a history is read again once it has changed or other tags run, and only then', async () => {
  const apps = Array.from({ length: 300 }, (_, index) => `app-${index}`)
  const store = (tag: string, createdAfter: number) =>
    storeTasks(
      database,
      apps.map((app) => ({ app, created: at + createdAfter, images: [{ image: shop, tag }] })),
    )
  await store('v1', 1)
  await store('v2', 2)
  await confirm(...apps)
  const read = createReadTaskImages(database.query)
  const tagsIn = async (...tags: readonly string[]) => {
    const found = await read(apps.map((app) => ({ app, tags })))
    const texts = [...found.values()].map((images) => images.map(({ tag, status }) => `${tag} ${status}`).join(', '))
    expect(found.size).toBe(300)
    return [...new Set(texts)]
  }
  expect(await tagsIn('v2')).toEqual(['v2 deployed, v1 deployed'])
  await sql`UPDATE watcher.tasks SET images = '[{"image": "i", "tag": "changed"}]' WHERE app = 'app-7'`.execute(
    database.query,
  )
  expect(await tagsIn('v2')).toEqual(['v2 deployed, v1 deployed'])
  expect(await tagsIn('v3')).toEqual(['v2 deployed', 'changed deployed'])
  await store('v3', 3)
  expect(await tagsIn('v3')).toEqual(['v3 deployed, v2 deployed', 'changed deployed, v3 deployed'])
  await sql`DELETE FROM watcher.tasks WHERE app LIKE 'app-%' AND created < to_timestamp(${at + 3})`.execute(
    database.query,
  )
  expect(await tagsIn('v3')).toEqual(['v3 deployed'])
  await storeTasks(
    database,
    apps.map((app) => ({ app, created: at + 4, images: [{ image: shop, tag: 'v3' }], status: 'in progress' as const })),
  )
  expect(await tagsIn('v3')).toEqual(['v3 in progress, v3 deployed'])
  await sql`UPDATE watcher.tasks SET status = 'failed' WHERE status = 'in progress' AND app LIKE 'app-%'`.execute(
    database.query,
  )
  expect(await tagsIn('v3')).toEqual(['v3 failed, v3 deployed'])
})
