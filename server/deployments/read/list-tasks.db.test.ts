import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskFilter } from '../../../contract/task.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import { openFileDatabase, queryOnce } from '../../../test/support/database.ts'
import { createTaskStore, type TaskStore } from '../../../test/support/task-store.ts'
import { openDatabase } from '../../storage/database.ts'

const { testDatabase, database } = await openFileDatabase()

type Stored = {
  project: string
  app?: string
  author?: string
  status?: string
  images?: readonly { image: string; tag: string }[]
  tag?: string
  commit?: string
  minutesAgo?: number
  seconds?: number
}

async function stored(tasks: readonly Stored[]): Promise<void> {
  for (const task of tasks) {
    const {
      project,
      app = 'shop',
      author = 'ada',
      status = 'deployed',
      commit = null,
      minutesAgo = 0,
      seconds = 1,
    } = task
    const images = JSON.stringify(task.images ?? [{ image: 'registry.example/shop', tag: task.tag ?? 'v1' }])
    await sql`INSERT INTO watcher.tasks
      (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status, commit)
      SELECT gen_random_uuid(), at, at + make_interval(secs => ${seconds}), at, ${app}, ${author}, ${project}, ${images}, 1,
        true, true, ${status}, ${commit}
      FROM (SELECT clock_timestamp() - make_interval(mins => ${minutesAgo}) AS at) AS moment`.execute(database.query)
  }
}

/** As when Argo CD shows the application. */
const confirm = (app: string) =>
  sql`INSERT INTO watcher.confirmed_applications (app) VALUES (${app})`.execute(database.query)

const newProject = () => `project-${crypto.randomUUID()}`

test('globs end at the slash', async () => {
  const project = newProject()
  await stored(['shop', 'team/shop', 'team/bank', 'teams/shop'].map((app) => ({ project, app })))
  const found = async (...globs: string[]) =>
    (await createTaskStore(database).list({ project }, { globs, address: '' })).tasks.map(({ app }) => app).toSorted()
  expect(await found('*')).toEqual(['shop'])
  expect(await found('team*', '*shop', 'team?shop')).toEqual(['shop'])
  expect(await found('team/*')).toEqual(['team/bank', 'team/shop'])
  expect(await found('*/shop', 's*')).toEqual(['shop', 'team/shop', 'teams/shop'])
})

test('a bound between two milliseconds is kept', async () => {
  const project = newProject()
  await stored([{ project }])
  await sql`UPDATE watcher.tasks SET created = '2026-01-01T00:00:00.854Z' WHERE project = ${project}`.execute(
    database.query,
  )
  const at = Date.UTC(2026, 0) / 1000
  const found = async (filter: TaskFilter) =>
    (await createTaskStore(database).list({ project, ...filter })).tasks.length
  expect([
    await found({ to_timestamp: at + 0.8536 }),
    await found({ from_timestamp: at + 0.8536 }),
    await found({ to_timestamp: at + 0.854 }),
    await found({ from_timestamp: at + 0.854 }),
  ]).toEqual([0, 1, 1, 0])
})

describe('paging by cursor', () => {
  async function pages(filter: TaskFilter, between: () => Promise<void> = async () => undefined) {
    const tasks = createTaskStore(database)
    const ids: string[] = []
    for (let page = await tasks.list(filter); ; page = await tasks.list({ ...filter, cursor: page.next })) {
      ids.push(...page.tasks.map(({ id }) => id))
      if (!page.next) return ids
      await between()
    }
  }

  test('gives every task once, though ever more arrive and some were created in the same millisecond', async () => {
    const project = newProject()
    await stored(Array.from({ length: 6 }, () => ({ project })))
    await sql`UPDATE watcher.tasks SET created = '2026-01-01' WHERE project = ${project}`.execute(database.query)
    await stored(Array.from({ length: 5 }, () => ({ project })))
    const before = await pages({ project, limit: 1000 })
    expect(await pages({ project, limit: 2 }, () => stored([{ project }]))).toEqual(before)
  })

  test('tells of a next page only where there is one, and counts only on the first', async () => {
    const project = newProject()
    await stored([{ project }, { project }])
    const tasks = createTaskStore(database)
    expect((await tasks.list({ project, limit: 2 })).next).toBeUndefined()
    const first = await tasks.list({ project, limit: 1 })
    expect(first.total).toEqual({ count: 2, isCapped: false })
    const second = await tasks.list({ project, limit: 1, cursor: first.next })
    expect(second).toMatchObject({ tasks: [{ project }], next: undefined, total: undefined })
  })
})

describe('searching', () => {
  describe.for([true, false])('among the parts of tasks, with the trigram index: %s', (isIndexed) => {
    const project = newProject()
    const [shop, bank, both] = ['Shop-API', 'bank', 'shop-and-bank'] as const
    beforeAll(async () => {
      if (!isIndexed) await sql`DROP INDEX watcher.tasks_searched`.execute(database.query)
      await stored([
        {
          project,
          app: shop,
          author: 'Olga',
          images: [{ image: 'host:5000/team/shop', tag: 'v1.2.3' }],
          commit: 'c0ffee12',
        },
        { project, app: bank, author: 'bo_b', images: [{ image: 'host:5000/team/bank', tag: '50%-off' }] },
        {
          project,
          app: both,
          author: 'eve',
          images: [
            { image: 'host:5000/team/shop', tag: 'v9' },
            { image: 'host:5000/team/bank', tag: 'v1.2.3' },
          ],
        },
      ])
    })
    afterAll(() => sql`SELECT watcher.add_search_index()`.execute(database.query))

    test.for<{ search: string; found: readonly string[] }>([
      { search: 'shop-api', found: [shop] },
      { search: 'OP-', found: [shop, both] },
      { search: 'OLGA', found: [shop] },
      { search: 'bo_b', found: [bank] },
      { search: `olga\n${project}`, found: [] },
      { search: '\n', found: [] },
      { search: '\u0002', found: [] },
      { search: 'bo%b', found: [] },
      { search: 'b\\', found: [] },
      { search: project, found: [shop, bank, both] },
      { search: 'host:5000/team/', found: [shop, bank, both] },
      { search: 'team/shop', found: [shop, both] },
      { search: 'team/shop:v1', found: [shop] },
      { search: '5000/team/bank:v1.2.3', found: [both] },
      { search: 'shop:', found: [shop, both] },
      { search: ':v9', found: [both] },
      { search: ':5000/team/bank:50%', found: [bank] },
      { search: '1.2', found: [shop, both] },
      { search: '0%', found: [bank] },
      { search: 'v9', found: [both] },
      { search: 'C0FFEE1', found: [shop] },
      { search: 'shop:v1.2.3', found: [shop] },
      { search: 'image', found: [] },
    ])('$search is found in $found', async ({ search, found }) => {
      const { tasks, total } = await createTaskStore(database).list({ project, search })
      expect(tasks.map(({ app }) => app).toSorted()).toEqual(found.toSorted())
      expect(total).toEqual({ count: found.length, isCapped: false })
    })

    test('the whole of an id, and its parts, find the task', async () => {
      const { list } = createTaskStore(database)
      const id = (await list({ project, app: bank })).tasks[0]?.id ?? ''
      for (const search of [id, id.slice(3, 30).toUpperCase(), id.slice(-13)]) {
        expect((await list({ project, search })).tasks.map((task) => task.id)).toEqual([id])
      }
    })
  })

  test('finds a commit that became known after the task was accepted', async () => {
    const project = newProject()
    await stored([{ project }])
    await sql`UPDATE watcher.tasks SET commit = 'FEDCBA98' WHERE project = ${project}`.execute(database.query)
    expect(await createTaskStore(database).list({ project, search: 'edcba9' })).toMatchObject({ total: { count: 1 } })
  })

  test('goes together with other filters, offset and cursor', async () => {
    const project = newProject()
    const statuses = ['deployed', 'failed', 'deployed', 'deployed', 'deployed']
    await stored(statuses.map((status, index) => ({ project, status, tag: `v${index}`, minutesAgo: 10 - index })))
    const { list } = createTaskStore(database)
    const shown = async (filter: TaskFilter) => {
      const { tasks, next, total } = await list({
        project,
        search: 'example/shop',
        statuses: ['deployed'],
        limit: 2,
        ...filter,
      })
      return { tags: tasks.map(({ images }) => images[0]?.tag), next, count: total?.count }
    }
    const first = await shown({})
    expect(first).toMatchObject({ tags: ['v4', 'v3'], count: 4 })
    expect(await shown({ offset: 1 })).toMatchObject({ tags: ['v3', 'v2'], count: 4 })
    expect(await shown({ cursor: first.next })).toEqual({ tags: ['v2', 'v0'], next: undefined, count: undefined })
    const some = await shown({ statuses: ['failed', 'deployed'], limit: 4 })
    expect(some).toMatchObject({ tags: ['v4', 'v3', 'v2', 'v1'], count: 5 })
    expect(await shown({ app: 'bank' })).toMatchObject({ tags: [], count: 0 })
    expect(await shown({ from_timestamp: Date.now() / 1000 - 60 * 7.5 })).toMatchObject({
      tags: ['v4', 'v3'],
      count: 2,
    })
  })

  describe('among more tasks than are counted', () => {
    const project = newProject()
    const list = (filter: TaskFilter) => createTaskStore(database).list({ project, ...filter })
    const capped = { count: 10_000, isCapped: true }
    beforeAll(async () => {
      for (let from = 1; from <= 20_001; from += 1_000) {
        await sql`INSERT INTO watcher.tasks
          (id, created, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
          SELECT gen_random_uuid(), to_timestamp(1e9 + n), now(), 'many', 'ada', ${project},
            jsonb_build_array(jsonb_build_object('image', 'shop', 'tag', CASE
              WHEN n IN (1, 20000) THEN 'q9' WHEN n = 5 THEN 'rare-775' ELSE 'v1' END)),
            n, true, true, 'deployed'
          FROM generate_series(${from}::integer, least(20001, ${from}::integer + 999)) AS n`.execute(database.query)
      }
    })

    test.for<{ name: string; filter: TaskFilter; found: number[] }>([
      { name: 'the newest', filter: {}, found: [20_001] },
      { name: 'the last of very many', filter: { offset: 20_000 }, found: [1] },
      { name: 'the newest of not so many', filter: { to_timestamp: 1e9 + 11_000 }, found: [11_000] },
    ])('gives $name and a capped total', async ({ filter, found }) => {
      const { tasks, total } = await list({ search: 'MANY', limit: 1, ...filter })
      expect(tasks.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual(found)
      expect(total).toEqual(capped)
    })

    test.for<{ search: string; found: number[] }>([
      { search: 'ARE-77', found: [5] },
      { search: 'op:rare-7', found: [5] },
      { search: 'shop:q', found: [20_000, 1] },
      { search: 'shop:zzz', found: [] },
    ])('finds the few whose tag holds $search', async ({ search, found }) => {
      const { tasks, total } = await list({ search })
      expect(tasks.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual(found)
      expect(total).toEqual({ count: found.length, isCapped: false })
    })

    test('gives the old ones of an image and the beginning of their tag, which very many have', async () => {
      const { tasks, total } = await list({ search: 'shop:v1', offset: 19_997 })
      expect(tasks.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([2])
      expect(total).toEqual(capped)
    })

    test('goes on by cursor', async () => {
      const first = await list({ search: 'MANY', limit: 1 })
      const second = await list({ search: 'MANY', limit: 1, cursor: first.next })
      expect(second).toMatchObject({ tasks: [{ timeoutSeconds: 20_000 }], total: undefined })
    })

    test('finds two characters in tags, old ones too', async () => {
      const { tasks, total } = await list({ search: 'q9' })
      expect(tasks.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([20_000, 1])
      expect(total).toEqual({ count: 2, isCapped: false })
    })
  })

  test('has its index made later by one call', async () => {
    const indexed = async () => {
      const index = sql<{ index: string | null }>`SELECT to_regclass('watcher.tasks_searched')::text AS index`
      return (await index.execute(database.query)).rows[0]?.index
    }
    await queryOnce(testDatabase.url, 'DROP INDEX IF EXISTS watcher.tasks_searched') // for as long as it takes
    await queryOnce(testDatabase.url, 'SELECT watcher.add_search_index()')
    expect(await indexed()).toBe('watcher.tasks_searched')
  })
})

describe('the summary of applications', () => {
  test('leaves out those that Argo CD has not shown', async () => {
    const app = `app-${crypto.randomUUID()}`
    await stored([{ project: newProject(), app, status: 'app not found' }])
    const { apps } = await createTaskStore(database).summarize(90)
    expect(apps.filter((one) => one.app === app)).toEqual([])
  })

  test('counts statuses, names the last deployment, takes durations from the newest and leaves out what is older', async () => {
    const [project, app] = [newProject(), `app-${crypto.randomUUID()}`]
    const deployed = Array.from({ length: 12 }, (_, index) => ({
      project,
      app,
      minutesAgo: 10 + index,
      seconds: index < 10 ? 10 + index : 1_000,
    }))
    await confirm(app)
    await stored([...deployed, { project, app, status: 'failed', minutesAgo: 5 }])
    await stored([{ project, app, status: 'cancelled', minutesAgo: 4 }])
    await stored([{ project, app, status: 'app not found', minutesAgo: 3 }])
    await stored([{ project, app, status: 'aborted', minutesAgo: 60 * 24 * 2 }])
    const { as_of, days, apps } = await createTaskStore(database).summarize(1)
    const { tasks: listed } = await createTaskStore(database).list({ project })
    const newest = (status: TaskStatus) => listed.find((task) => task.status === status)
    const images = newest('deployed')?.images
    const minutesAgo = (minutes: number) => expect.closeTo(Date.now() / 1000 - minutes * 60, -1)
    expect(days).toBe(1)
    expect(Math.abs(as_of - Date.now() / 1000)).toBeLessThan(5)
    expect(apps.find((one) => one.app === app)).toEqual({
      app,
      counts: { deployed: 12, failed: 1, cancelled: 1, 'app not found': 1 },
      latest: {
        id: newest('failed')?.id,
        status: 'failed',
        author: newest('failed')?.author,
        images,
        image_count: 1,
        created: minutesAgo(5),
        ended: expect.any(Number),
      },
      last_deployment: { id: newest('deployed')?.id, images, image_count: 1, created: minutesAgo(10) },
      median_seconds: expect.closeTo(14.5, 2),
      p95_seconds: expect.closeTo(1_000, 0),
      recent: listed.slice(0, 10).map(({ id, status }) => ({ id, status })),
    })
  })

  test('names what happened to the newest task, as lists do', async () => {
    const [project, app] = [newProject(), `app-${crypto.randomUUID()}`]
    const headline = 'Container web crashes on start: exit code 1'
    await confirm(app)
    await stored([{ project, app, status: 'failed' }])
    const diagnosis = JSON.stringify({ headline })
    await sql`UPDATE watcher.tasks SET diagnosis = ${diagnosis} WHERE project = ${project}`.execute(database.query)
    const store = createTaskStore(database)
    expect((await store.list({ project })).tasks).toMatchObject([{ headline, diagnosis: undefined }])
    expect((await store.summarize(90)).apps.find((one) => one.app === app)).toMatchObject({ latest: { headline } })
  })

  test('of an application without a deployment has no durations', async () => {
    const app = `app-${crypto.randomUUID()}`
    await confirm(app)
    await stored([{ project: newProject(), app, status: 'in progress' }])
    const { apps } = await createTaskStore(database).summarize(90)
    const { id = '', author, images } = (await createTaskStore(database).list({ app })).tasks[0] ?? {}
    expect(apps.find((one) => one.app === app)).toEqual({
      app,
      counts: { 'in progress': 1 },
      latest: { id, status: 'in progress', author, images, image_count: 1, created: expect.any(Number) },
      recent: [{ id, status: 'in progress' }],
    })
  })

  test('shows three images of a task that has more', async () => {
    const app = `app-${crypto.randomUUID()}`
    await confirm(app)
    const images = Array.from({ length: 50 }, (_, index) => ({ image: `shop-${index}`, tag: 'v1' }))
    await stored([{ project: newProject(), app, images }])
    const { apps } = await createTaskStore(database).summarize(90)
    expect(apps.find((one) => one.app === app)?.latest).toMatchObject({ images: images.slice(0, 3), image_count: 50 })
  })
})

test.for<{ name: string; read: (tasks: TaskStore) => Promise<unknown>; message: string }>([
  {
    name: 'a search',
    read: ({ list }) => list({ search: 'shop' }),
    message: 'search timed out after 1.8s; use more characters, or an application, a project or a time',
  },
  {
    name: 'a list',
    read: ({ list }) => list({ statuses: ['failed'] }),
    message: 'list timed out after 1.8s; use an application, a project or a time',
  },
  {
    name: 'a summary',
    read: ({ summarize }) => summarize(90),
    message: 'summary timed out after 1.8s; use fewer days',
  },
])('$name is cancelled by PostgreSQL after 1.8 seconds and says what to narrow', async ({ read, message }) => {
  await using other = openDatabase(testDatabase.settings, () => undefined)
  await other.query.transaction().execute(async (transaction) => {
    await sql`LOCK TABLE watcher.tasks IN ACCESS EXCLUSIVE MODE`.execute(transaction)
    await expect(read(createTaskStore(database))).rejects.toThrow(message)
    const waiting = sql`SELECT query FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'`
    expect((await waiting.execute(transaction)).rows).toEqual([])
  })
})
