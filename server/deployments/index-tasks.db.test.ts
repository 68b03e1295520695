import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../test/support/database.ts'
import { createTaskStore } from './task-store.ts'

const { database } = await openFileDatabase()

const commit = 'c0ffee'.repeat(6)

/** @returns the project that only these have */
async function storedTasks(count: number): Promise<string> {
  const project = `project-${crypto.randomUUID()}`
  await sql`INSERT INTO watcher.tasks (id, deadline, app, author, project, images, timeout_seconds, refresh, may_write)
    SELECT gen_random_uuid(), now(), 'shop', 'ada', ${project}, '[{"image": "shop", "tag": "build-7788"}]', 1, true, true
    FROM generate_series(1, ${count}::integer)`.execute(database.query)
  return project
}

const found = async (project: string, search: string) =>
  (await createTaskStore(database).list({ project, search })).total

async function rowsOf(project: string): Promise<{ waiting: number; indexed: number }> {
  const { rows } = await sql<{ waiting: string; indexed: string }>`
    SELECT (SELECT count(*) FROM watcher.unindexed_tasks JOIN watcher.tasks USING (id) WHERE project = ${project}) AS waiting,
      (SELECT count(*) FROM watcher.task_searches JOIN watcher.tasks USING (id) WHERE project = ${project}) AS indexed`.execute(
    database.query,
  )
  return { waiting: Number(rows[0]?.waiting), indexed: Number(rows[0]?.indexed) }
}

test('a task is found at once, and once, before and after it is indexed', async () => {
  const project = await storedTasks(3)
  const all = { count: 3, isCapped: false }
  expect(await rowsOf(project)).toEqual({ waiting: 3, indexed: 0 })
  for (const search of ['77', '778', 'build-7788']) expect(await found(project, search)).toEqual(all)
  await createTaskStore(database).indexNew()
  expect(await rowsOf(project)).toEqual({ waiting: 0, indexed: 3 })
  for (const search of ['77', '778', 'build-7788']) expect(await found(project, search)).toEqual(all)
})

test('several at once index each of many tasks once', async () => {
  const project = await storedTasks(2_500)
  await Promise.all(Array.from({ length: 4 }, () => createTaskStore(database).indexNew()))
  await createTaskStore(database).indexNew() // what another had just taken and not yet written
  expect(await rowsOf(project)).toEqual({ waiting: 0, indexed: 2_500 })
})

test('what is searched of a task does not lack a commit that was written while others index', async () => {
  const project = await storedTasks(2)
  const one = await database.query.selectFrom('tasks').select('id').where('project', '=', project).executeTakeFirst()
  await database.query.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('tasks')
      .set({ commit })
      .where('id', '=', one?.id ?? '')
      .execute()
    await createTaskStore(database).indexNew()
    expect(await rowsOf(project)).toEqual({ waiting: 1, indexed: 1 })
  })
  expect(await found(project, commit)).toEqual({ count: 1, isCapped: false })
  await createTaskStore(database).indexNew()
  expect(await rowsOf(project)).toEqual({ waiting: 0, indexed: 2 })
  expect(await found(project, commit)).toEqual({ count: 1, isCapped: false })
})

test('a commit that is written while its task is being indexed waits for it', async () => {
  const project = await storedTasks(2)
  let writing: Promise<unknown> | undefined
  await database.query.transaction().execute(async (transaction) => {
    await sql`SELECT watcher.index_tasks(10)`.execute(transaction)
    writing = database.query.updateTable('tasks').set({ commit }).where('project', '=', project).execute()
    const waiting = sql<{ count: string }>`SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await waiting.execute(transaction)).rows[0]?.count).toBe('1')
  })
  await writing
  expect(await rowsOf(project)).toEqual({ waiting: 0, indexed: 2 })
  expect(await found(project, commit)).toEqual({ count: 2, isCapped: false })
})
