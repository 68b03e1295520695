import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'

const { database } = await openFileDatabase()
const tasks = createTaskStore(database)

async function insert(status: string, repository: string, secondsAgo: number, count = 1): Promise<string> {
  const images = JSON.stringify([{ image: repository, tag: `v${secondsAgo}` }])
  const { rows } = await sql<{ id: string }>`
    INSERT INTO watcher.tasks (id, deadline, app, author, project, images, repositories, timeout_seconds, refresh, may_write, status, created, updated)
    SELECT gen_random_uuid(), now(), 'shop', 'ada', 'demo', ${images}::jsonb, ARRAY[${repository}], 1, true, true, ${status},
      now() - make_interval(secs => ${secondsAgo}) + n * interval '1 ms', now()
    FROM generate_series(1, ${count}::integer) AS n RETURNING id`.execute(database.query)
  return rows[0]?.id ?? ''
}

const contextOf = async (id: string) => {
  const task = await tasks.find(id)
  if (!task) throw new Error('no such task')
  return tasks.context(task)
}
const previousOf = async (id: string) => (await contextOf(id)).previous

test('the version before is that of the deployed task before with one of the images', async () => {
  const ours = 'registry.example/shop'
  await insert('deployed', ours, 500)
  const before = await insert('deployed', ours, 400)
  await insert('failed', ours, 300)
  await insert('deployed', 'registry.example/worker', 200)
  const now = await insert('in progress', ours, 100)
  await insert('deployed', ours, 50)
  expect(await previousOf(now)).toEqual({
    id: before,
    images: [{ image: ours, tag: 'v400' }],
    ended: expect.any(Number),
  })
  expect(await previousOf(await insert('in progress', 'registry.example/new', 10))).toBeUndefined()
})

test('a task knows what came after it with one of the images: the last deployed, and the newest that may have changed something', async () => {
  const ours = 'registry.example/since'
  const id = await insert('failed', ours, 500)
  expect(await contextOf(id)).toMatchObject({ deployedSince: undefined, newestSince: undefined })
  await insert('deployed', ours, 400)
  const deployed = await insert('deployed', ours, 300)
  const failed = await insert('failed', ours, 200)
  await insert('deployed', 'registry.example/another', 150)
  await insert('cancelled', ours, 100)
  await insert('app not found', ours, 50)
  const images = (tag: string) => [{ image: ours, tag }]
  expect(await contextOf(id)).toMatchObject({
    deployedSince: { id: deployed, images: images('v300'), ended: expect.any(Number) },
    newestSince: { id: failed, images: images('v200'), status: 'failed' },
  })
  const cancelled = await insert('cancelled', ours, 40)
  await sql`UPDATE watcher.tasks SET commit = 'a62a982' WHERE id = ${cancelled}`.execute(database.query)
  expect((await contextOf(id)).newestSince).toMatchObject({ id: cancelled, status: 'cancelled' })
  expect(await contextOf(cancelled)).toMatchObject({ deployedSince: undefined, newestSince: undefined })
})

test('tasks of others in between are passed over by an index, and 1,000 deployed ones are looked at', async () => {
  const ours = 'registry.example/far'
  const old = await insert('deployed', ours, 9_000)
  const task = await insert('in progress', ours, 1_000)
  await insert('failed', 'registry.example/others', 5_000, 3_000)
  await insert('deployed', 'registry.example/others', 4_000, 999)
  expect(await previousOf(task)).toMatchObject({ id: old })
  await insert('deployed', 'registry.example/others', 2_000)
  expect(await previousOf(task)).toBeUndefined()
})
