import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { xssPayloads } from '../../../test/security/xss-payloads.ts'
import { openFileDatabase } from '../../../test/support/database.ts'
import { storeTasks } from '../../../test/support/store-tasks.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'

const { database } = await openFileDatabase()
const tasks = createTaskStore(database)
const created = Math.floor(Date.now() / 1000)
const byBytes = (names: readonly string[]) => names.toSorted((one, other) => (one < other ? -1 : 1))

beforeEach(() => sql`DELETE FROM watcher.tasks`.execute(database.query))

test('the names are those of the tasks, each once and sorted, and tell whether there are more', async () => {
  const apps = Array.from({ length: 22 }, (_, index) => `app-${String(index).padStart(2, '0')}`)
  await storeTasks(
    database,
    apps.flatMap((app) => [
      { created, app },
      { created, app, author: 'Grace' },
    ]),
  )
  expect(await tasks.names({ field: 'app' })).toEqual({ names: apps.slice(0, 20), has_more: true })
  expect(await tasks.names({ field: 'app', search: 'P-1' })).toEqual({ names: apps.slice(10, 20), has_more: false })
  expect((await tasks.names({ field: 'author' })).names.toSorted()).toEqual(['Grace', 'ada'])
  expect(await tasks.names({ field: 'author', search: 'gra' })).toEqual({ names: ['Grace'], has_more: false })
  expect(await tasks.names({ field: 'project', search: 'demo\n' })).toEqual({ names: [], has_more: false })
  expect(await tasks.names({ field: 'project', search: 'shop' })).toEqual({ names: [], has_more: false })
})

test('there are none without a task', async () => {
  expect(await tasks.names({ field: 'app' })).toEqual({ names: [], has_more: false })
})

test('what stands for something in a search stands for itself, and so do payloads', async () => {
  const names = byBytes([...new Set(xssPayloads.map((payload) => payload.trim()))])
  await storeTasks(
    database,
    names.map((author) => ({ created, author })),
  )
  for (const name of names) expect((await tasks.names({ field: 'author', search: name })).names, name).toContain(name)
  expect((await tasks.names({ field: 'author', search: '_%_nothing' })).names).toEqual([])
})

test('a scoped token is shown names of its applications', async () => {
  await storeTasks(database, [
    { created, app: 'shop', author: 'ada' },
    { created, app: 'team/shop', author: 'grace' },
    { created, app: 'team/bank', author: 'grace' },
  ])
  expect(await tasks.names({ field: 'app' }, ['team/*'])).toMatchObject({ names: ['team/bank', 'team/shop'] })
  expect(await tasks.names({ field: 'author' }, ['team/*'])).toMatchObject({ names: ['grace'] })
  expect(await tasks.names({ field: 'app', search: 'SHOP' }, ['team/*'])).toMatchObject({ names: ['team/shop'] })
  expect(await tasks.names({ field: 'app' }, [])).toMatchObject({ names: [] })
})
