import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { HistoryPeriod } from '../../../contract/history.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import { openFileDatabase } from '../../../test/support/database.ts'
import { closely, deliveryFiguresOf, type EndedTask } from '../../../test/support/delivery-figures.ts'
import { type StoredTask, storeTasks } from '../../../test/support/store-tasks.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'
import { makeTaskId } from '../task-id.ts'
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

test('the four figures are those of a walk through 10,000 random tasks', async () => {
  const now = Math.floor(Date.now() / 1000)
  const { next, pick } = seeded(1)
  const others: TaskStatus[] = ['failed', 'failed', 'aborted', 'cancelled']
  const tasks = Array.from({ length: 10_000 }, (_, index): StoredTask & { id: string } => {
    const seconds = 1 + Math.floor(next() * 5_000)
    const ended = now - Math.floor(next() * 75 * 86_400)
    const status = pick([...Array<TaskStatus>(6).fill('deployed'), ...others])
    return {
      // Of one application no two have the same.
      created: ended - seconds + (index % 1_000) / 1_000,
      id: makeTaskId(new Date((ended - seconds) * 1000 + (index % 1_000))),
      seconds,
      app: `random-${pick([1, 2, 3, 4, 5, 6, 7, 8])}`,
      project: pick(['random', 'other']),
      environment: pick(['production', 'staging']),
      status,
      cause: status === 'deployed' ? null : pick(['crash_loop', 'image_pull', 'timeout']),
      is_rollback: next() < 0.1,
      source:
        next() < 0.3
          ? null
          : {
              repository: 'https://git.example/shop',
              sha: `sha-${Math.floor(next() * 3_000)}`,
              committed_at: ended - 9_000 * next(),
            },
    }
  })
  await storeTasks(database, tasks)
  await sql`ANALYZE watcher.tasks`.execute(database.query)
  const known = tasks.map((task): EndedTask => {
    const { app = '', status = 'deployed', created, seconds = 0 } = task
    return { ...task, app, status, ended: Math.round((created + seconds) * 1000) / 1000 }
  })
  for (const project of ['random', 'other'])
    for (const days of [7, 30])
      for (const filter of [
        {},
        { environment: 'production' },
        { app: 'random-3' },
        { app: 'random-3', environment: 'staging' },
      ]) {
        const { total, before } = await tell({ days, project, ...filter })
        const isAsked = (task: EndedTask) =>
          Object.entries({ project, ...filter }).every(([name, value]) => task[name as 'project'] === value)
        const expectedOf = ({ from, to }: typeof total) =>
          deliveryFiguresOf(known.filter(isAsked), known, { from, to, days, failuresFrom: before.from })
        expect(fourOf(total)).toEqual(closely(expectedOf(total)))
        expect(fourOf(before)).toEqual(closely(expectedOf(before)))
        expect(total.time_to_restore?.known).toBeGreaterThan(0)
        expect(before.deploy_frequency).toBeGreaterThan(0)
      }
})

const fourOf = ({ deploy_frequency, lead_time, change_failure_rate, time_to_restore, rollbacks }: HistoryPeriod) => ({
  deploy_frequency,
  lead_time,
  change_failure_rate,
  time_to_restore,
  rollbacks,
})

/** Random numbers that are the same in each run. */
function seeded(seed: number) {
  let state = seed
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return { next, pick: <Value>(values: readonly Value[]) => values[Math.floor(next() * values.length)] as Value }
}

test('a task with the longest names enters the indexes of ended tasks', async () => {
  // Of three bytes each, and in no order that PostgreSQL could compress.
  const longest = (seed: number) =>
    String.fromCodePoint(...Array.from({ length: 255 }, (_, index) => 0x4e00 + ((index * 7919 * seed) % 20_011)))
  const created = Date.now() / 1000 - 60
  const app = longest(1)
  const source = { repository: longest(2), sha: longest(3), committed_at: created - 60 }
  await storeTasks(database, [{ created, app, project: longest(5), environment: longest(7), source }])
  expect(await tell({ days: 7, app })).toMatchObject({ total: { counts: { deployed: 1 }, lead_time: { known: 1 } } })
})
