import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskFilter } from '../../contract/task.ts'
import { type TaskStatus, taskStatuses } from '../../contract/task-status.ts'
import { type Database, openDatabase } from '../../server/storage/database.ts'
import { type Random, randomUuid, seededRandom } from '../../simulator/model/random.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { createTaskStore } from '../../test/support/task-store.ts'

type Known = {
  id: string
  created: number
  app: string
  author: string
  project: string
  images: { image: string; tag: string }[]
  status: TaskStatus
  commit: string | null
}

const names = ['registry.example/shop', 'host:5000/team/bank', 'shop', 'ab/shop-API', 'registry.example/Ab']
const tags = ['v1', 'v1.2.3', 'v1.20.345', 'v2.20.345', '20-77.abc', 'V9', 'a3f', 'shop', `${'long-'.repeat(24)}tail`]
const apps = ['shop', 'Shop-API', 'bank', 'v1', 'ab', 'a3f-1']
const newestSecond = 1_700_000_000

const oneOf = <One>(random: Random, all: readonly One[]): One => {
  const one = all[Math.floor(random() * all.length)]
  if (one === undefined) throw new Error('there is nothing to choose from')
  return one
}

function knownTask(random: Random, index: number): Known {
  const images = Array.from({ length: random() < 0.7 ? 1 : 3 }, () => ({
    image: oneOf(random, names),
    tag: oneOf(random, tags),
  }))
  return {
    id: randomUuid(random),
    created: newestSecond - index,
    app: oneOf(random, apps),
    author: random() < 0.8 ? `author-${index}` : 'Ada',
    project: oneOf(random, ['p1', 'shop']),
    images,
    status: random() < 0.5 ? 'deployed' : oneOf(random, taskStatuses),
    commit: random() < 0.5 ? randomUuid(random).replaceAll('-', '') : null,
  }
}

const linesOf = ({ id, app, author, project, images, commit }: Known) =>
  [app, author, project, ...images.map(({ image, tag }) => `${image}:${tag}`), id, ...(commit ? [commit] : [])].map(
    (line) => line.toLowerCase(),
  )

function isMatch(task: Known, filter: TaskFilter, isInScope: (app: string) => boolean): boolean {
  const { app, author, project, statuses = taskStatuses, to_timestamp, search = '' } = filter
  return (
    [app ?? task.app, author ?? task.author, project ?? task.project].join() ===
      [task.app, task.author, task.project].join() &&
    statuses.some((status) => status === task.status) &&
    task.created <= (to_timestamp ?? newestSecond) &&
    isInScope(task.app) &&
    linesOf(task).some((line) => line.includes(search.toLowerCase()))
  )
}

function anyFilter(random: Random, tasks: readonly Known[]): TaskFilter {
  const line = oneOf(random, linesOf(oneOf(random, tasks)))
  const from = Math.floor(random() * line.length)
  const part = line.slice(from, from + 1 + Math.floor(random() * 20))
  const search = oneOf(random, [
    part,
    part,
    part,
    part.toUpperCase(),
    `${part}q`,
    'author-',
    'shop:',
    ':v1',
    '.2',
    '_1',
    '%',
  ])
  const some = (share: number, condition: TaskFilter): TaskFilter => (random() < share ? condition : {})
  return {
    search,
    ...some(0.2, { app: oneOf(random, apps) }),
    ...some(0.1, { author: 'Ada' }),
    ...some(0.2, { project: 'shop' }),
    ...some(0.3, { statuses: [oneOf(random, taskStatuses), oneOf(random, taskStatuses)] }),
    ...some(0.2, { to_timestamp: newestSecond - Math.floor(random() * tasks.length) }),
    ...some(0.2, { offset: Math.floor(random() * 5) }),
    limit: oneOf(random, [1, 10, 1000]),
  }
}

/** So few rows would be read without one. */
async function preferIndexes(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database()); END $$`,
  )
  await client.end()
}

describe.for([true, false])(
  'every search gives what a comparison of all tasks gives, with the trigram index: %s',
  (isIndexed) => {
    const random = seededRandom(20_261_122)
    const tasks = Array.from({ length: 600 }, (_, index) => knownTask(random, index))
    let testDatabase: TestDatabase
    let database: Database
    beforeAll(async () => {
      testDatabase = await createTestDatabase()
      await preferIndexes(testDatabase.url)
      database = openDatabase(testDatabase.settings, (error) => {
        throw error
      })
      const { query } = database
      await sql`INSERT INTO watcher.tasks
      (id, created, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status, commit)
      SELECT id, to_timestamp(created), now(), app, author, project, images, 1, true, true, status, commit
      FROM jsonb_to_recordset(${JSON.stringify(tasks)}) AS task
        (id uuid, created double precision, app text, author text, project text, images jsonb, status text, commit text)`.execute(
        query,
      )
      if (!isIndexed) await sql`DROP INDEX watcher.tasks_searched`.execute(query)
      await sql`ANALYZE watcher.tasks`.execute(query)
    })
    afterAll(async () => {
      await database[Symbol.asyncDispose]()
      await testDatabase[Symbol.asyncDispose]()
    })

    test('in 200 searches of all kinds', async () => {
      const { list } = createTaskStore(database)
      let found = 0
      for (let search = 0; search < 200; search += 1) {
        const filter = anyFilter(random, tasks)
        const globs = random() < 0.1 ? ['Shop*', 'b?nk'] : undefined
        const expected = tasks.filter((task) => isMatch(task, filter, (app) => !globs || /^(?:Shop.*|b.nk)$/.test(app)))
        const { tasks: page, total } = await list(filter, { globs, address: '' })
        const { offset = 0, limit = 1000 } = filter
        const shown = { filter, globs, ids: page.map(({ id }) => id), total }
        const ids = expected.slice(offset, offset + limit).map(({ id }) => id)
        expect(shown).toEqual({ filter, globs, ids, total: { count: expected.length, isCapped: false } })
        if (expected.length > 0) found += 1
      }
      expect(found).toBeGreaterThan(100)
    })
  },
)
