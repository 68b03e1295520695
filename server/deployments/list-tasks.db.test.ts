import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskFilter } from '../../contract/task.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { type Database, openDatabase } from '../storage/database.ts'
import { createTaskStore } from './task-store.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = openDatabase(testDatabase.settings, (error) => {
    throw error
  })
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await testDatabase[Symbol.asyncDispose]()
})

type Stored = { project: string; app?: string; status?: string; tag?: string; minutesAgo?: number; seconds?: number }

async function stored(tasks: readonly Stored[]): Promise<void> {
  for (const { project, app = 'shop', status = 'deployed', tag = 'v1', minutesAgo = 0, seconds = 1 } of tasks) {
    const images = JSON.stringify([{ image: 'registry.example/shop', tag }])
    await sql`INSERT INTO watcher.tasks
      (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
      SELECT gen_random_uuid(), at, at + make_interval(secs => ${seconds}), at, ${app}, 'ada', ${project}, ${images}, 1, true,
        true, ${status} FROM (SELECT clock_timestamp() - make_interval(mins => ${minutesAgo}) AS at) AS moment`.execute(
      database.query,
    )
  }
}

const newProject = () => `project-${crypto.randomUUID()}`

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
  test.for([true, false])('finds part of an image with its tag, with the trigram index: %s', async (isIndexed) => {
    const project = newProject()
    await stored([
      { project, tag: 'v1.2.3' },
      { project, tag: 'v1.2.4' },
    ])
    if (!isIndexed) await sql`DROP INDEX watcher.tasks_searched`.execute(database.query)
    const found = async (search: string) => (await createTaskStore(database).list({ project, search })).tasks.length
    expect(await found('EXAMPLE/shop:v1.2.3')).toBe(1)
    expect(await found('v1.2')).toBe(2)
    expect(await found('v1_2')).toBe(0)
    expect(await found('"tag"')).toBe(0)
  })

  test('has its index made later by one call', async () => {
    const indexed = async () => {
      const index = sql<{ index: string | null }>`SELECT to_regclass('watcher.tasks_searched')::text AS index`
      return (await index.execute(database.query)).rows[0]?.index
    }
    await sql`DROP INDEX IF EXISTS watcher.tasks_searched`.execute(database.query)
    await sql`SELECT watcher.add_search_index()`.execute(database.query)
    expect(await indexed()).toBe('watcher.tasks_searched')
  })
})

describe('the summary of applications', () => {
  test('counts statuses, names the last deployment, takes durations from the newest and leaves out what is older', async () => {
    const [project, app] = [newProject(), `app-${crypto.randomUUID()}`]
    const deployed = Array.from({ length: 12 }, (_, index) => ({
      project,
      app,
      minutesAgo: 10 + index,
      seconds: index < 10 ? 10 + index : 1_000,
    }))
    await stored([...deployed, { project, app, status: 'failed', minutesAgo: 5 }])
    await stored([{ project, app, status: 'aborted', minutesAgo: 60 * 24 * 2 }])
    const { as_of, days, apps } = await createTaskStore(database).summarize(1)
    const newest = await createTaskStore(database).list({ project, status: 'deployed', limit: 1 })
    expect(days).toBe(1)
    expect(Math.abs(as_of - Date.now() / 1000)).toBeLessThan(5)
    expect(apps.find((one) => one.app === app)).toEqual({
      app,
      counts: { deployed: 12, failed: 1 },
      last_deployment: { id: newest.tasks[0]?.id, created: expect.closeTo(Date.now() / 1000 - 600, -1) },
      median_seconds: expect.closeTo(14.5, 2),
      p95_seconds: expect.closeTo(1_000, 0),
      recent: ['failed', ...Array.from({ length: 9 }, () => 'deployed')],
    })
  })

  test('of an application without a deployment has no durations', async () => {
    const app = `app-${crypto.randomUUID()}`
    await stored([{ project: newProject(), app, status: 'in progress' }])
    const { apps } = await createTaskStore(database).summarize(90)
    expect(apps.find((one) => one.app === app)).toEqual({ app, counts: { 'in progress': 1 }, recent: ['in progress'] })
  })
})
