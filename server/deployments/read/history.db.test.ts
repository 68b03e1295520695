import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { storeTasks } from '../../../test/support/store-tasks.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'
import { createReadHistory } from './history.ts'

const { database } = await openFileDatabase()
const tell = createReadHistory({
  read: createTaskStore(database).history,
  lockedTimes: async () => [],
  now: () => new Date(),
})

async function pagesLeftByVacuum(): Promise<number | undefined> {
  await sql`VACUUM ANALYZE watcher.tasks`.execute(database.query)
  const { rows } = await sql<{ left: number }>`
    SELECT relpages - relallvisible AS left FROM pg_class WHERE oid = 'watcher.tasks'::regclass`.execute(database.query)
  return rows[0]?.left
}

test('the history is read from the indexes of ended tasks, without the table', async () => {
  const newest = Date.now() / 1000 - 60
  const tasks = Array.from({ length: 10_000 }, (_, index) => ({
    created: newest - index * 1_000,
    app: `app-${index % 50}`,
    source: {
      repository: 'https://git.example/shop',
      sha: `sha-${index % 6_000}`,
      committed_at: newest - 86_400 * 100,
    },
  }))
  await storeTasks(database, tasks)
  // It passes by what is not on the disk yet.
  await expect.poll(pagesLeftByVacuum).toBe(0)
  const reads = async () => {
    const { rows } = await sql<{ index: string; scans: number; rows: number }>`
      SELECT indexrelname AS index, idx_scan::integer AS scans, idx_tup_fetch::integer AS rows FROM pg_stat_user_indexes
      WHERE indexrelname IN ('tasks_by_end', 'tasks_deployed_of_commit') ORDER BY indexrelname`.execute(database.query)
    return rows
  }
  await tell({ days: 30 })
  // PostgreSQL counts them a moment later.
  await expect.poll(reads).toEqual([expectedOf('tasks_by_end'), expectedOf('tasks_deployed_of_commit')])
})

const expectedOf = (index: string) => ({ index, scans: expect.toSatisfy((scans) => scans > 0), rows: 0 })

test('an application is restored by the next deployed task after the first that failed', async () => {
  const now = Date.now() / 1000
  const day = 86_400
  const at = (daysAgo: number, seconds: number) => ({
    created: now - daysAgo * day + seconds,
    seconds: 10,
    project: 'mttr',
  })
  await storeTasks(database, [
    { ...at(2, 0), app: 'mended', status: 'failed' },
    { ...at(2, 100), app: 'mended', status: 'aborted' },
    { ...at(2, 200), app: 'mended', status: 'cancelled' },
    { ...at(2, 600), app: 'mended' },
    { ...at(2, 900), app: 'mended' }, // nothing is left to restore
    { ...at(1, 0), app: 'quick', status: 'failed' },
    { ...at(1, 200), app: 'quick' },
    { ...at(1, 0), app: 'broken', status: 'failed' },
    { ...at(9, 0), app: 'before', status: 'failed' },
    { ...at(9, 40), app: 'before' },
  ])
  const { total, before, by_day: days } = await tell({ days: 7, project: 'mttr' })
  expect([total.restore, before.restore]).toEqual([
    { median_seconds: expect.closeTo(400, 3), known: 2 },
    { median_seconds: expect.closeTo(40, 3), known: 1 },
  ])
  expect(days.map(({ restore }) => restore?.known ?? 0)).toEqual([0, 0, 0, 0, 1, 1, 0])
})

test('a task with the longest names enters the indexes of ended tasks', async () => {
  // Of three bytes each, and in no order that PostgreSQL could compress.
  const longest = (seed: number) =>
    String.fromCodePoint(...Array.from({ length: 255 }, (_, index) => 0x4e00 + ((index * 7919 * seed) % 20_011)))
  const created = Date.now() / 1000 - 60
  const app = longest(1)
  const source = { repository: longest(2), sha: longest(3), committed_at: created - 60 }
  await storeTasks(database, [{ created, app, project: longest(5), source }])
  expect(await tell({ days: 7, app })).toMatchObject({ total: { counts: { deployed: 1 }, lead_time: { known: 1 } } })
})
