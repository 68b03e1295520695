import * as fc from 'fast-check'
import { sql } from 'kysely'
import { Temporal } from 'temporal-polyfill'
import { expect, test } from 'vitest'
import type { History, HistoryFilter } from '../../contract/history.ts'
import { finalStatuses, taskStatuses } from '../../contract/task-status.ts'
import { matchesGlob } from '../../server/auth/access/matches-glob.ts'
import { createReadHistory } from '../../server/deployments/read/history.ts'
import { openFileDatabase } from '../../test/support/database.ts'
import { closely, deliveryFiguresOf, type EndedTask, quantile } from '../../test/support/delivery-figures.ts'
import { type StoredTask, storeTasks } from '../../test/support/store-tasks.ts'
import { createTaskStore } from '../../test/support/task-store.ts'

const { database } = await openFileDatabase()
/** The day after the clocks of Berlin went back. */
const now = new Date('2026-10-26T10:00:00Z')
const nowSeconds = now.getTime() / 1000
const tell = createReadHistory({
  read: createTaskStore(database).history,
  lockedTimes: async () => [{ from: new Date('2026-10-24T20:00:00Z'), to: new Date('2026-10-25T00:30:00Z') }],
  now: () => now,
})

const hour = 3_600
const anApp = fc.constantFrom('shop', 'team/shop', 'team/bank', '<b>shop</b>')
const aTask = fc.record({
  ended: fc.oneof(
    fc.integer({ min: 0, max: 16 * 24 * hour * 1000 }),
    // Beginnings of days of some zone are worth trying.
    fc.integer({ min: 0, max: 16 * 24 }).map((hours) => hours * hour * 1000),
    fc.integer({ min: 0, max: 185 * 24 * hour * 1000 }),
  ),
  seconds: fc.integer({ min: 1, max: 100_000 }),
  app: anApp,
  project: fc.constantFrom('p1', 'p2'),
  environment: fc.constantFrom('production', 'staging'),
  is_rollback: fc.boolean(),
  status: fc.oneof({ weight: 3, arbitrary: fc.constant('deployed' as const) }, fc.constantFrom(...taskStatuses)),
  cause: fc.constantFrom('crash_loop', 'image_pull', 'timeout'),
  sha: fc.constantFrom('a1', 'b2', 'c3', 'd4', "'; --"),
  committed: fc.constantFrom('absent', 'before', 'before', 'after', 'long ago', 'least'),
  hasSource: fc.boolean(),
})

type Drawn = typeof aTask extends fc.Arbitrary<infer Value> ? Value : never

function storedOf({ ended, seconds, status, cause, sha, committed, hasSource, ...same }: Drawn): StoredTask {
  const endedAt = nowSeconds - Math.floor(ended) / 1000
  const at = { before: endedAt - seconds, after: endedAt + 1, 'long ago': 0, least: 5e-324, absent: undefined }[
    committed
  ]
  return {
    created: endedAt - seconds / 1000,
    seconds: seconds / 1000,
    ...same,
    status,
    cause: status === 'deployed' || status === 'in progress' ? null : cause,
    source: hasSource
      ? { repository: 'https://git.example/shop', sha, ...(at !== undefined && { committed_at: at }) }
      : null,
  }
}

type Known = EndedTask & Required<Pick<StoredTask, 'status' | 'seconds'>>

const close = (value: number) => expect.closeTo(value, 2)

function endsOf(tasks: readonly Known[]) {
  const seconds = tasks.filter(({ status }) => status === 'deployed').map((task) => task.seconds)
  return {
    counts: countsOf(tasks),
    ...(seconds.length > 0 && {
      durations: {
        median_seconds: close(quantile(seconds, 0.5)),
        p95_seconds: close(quantile(seconds, 0.95)),
        p99_seconds: close(quantile(seconds, 0.99)),
      },
    }),
  }
}

const countsOf = (tasks: readonly Known[]) =>
  Object.fromEntries(
    finalStatuses
      .map((status) => [status, tasks.filter((task) => task.status === status).length] as const)
      .filter(([, count]) => count > 0),
  )

function expectedOf(tasks: readonly Known[], all: readonly Known[], days: number, zone: string): Partial<History> {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone).toPlainDate()
  const beginning = (daysAgo: number) =>
    today.subtract({ days: daysAgo }).toZonedDateTime(zone).epochMilliseconds / 1000
  const from = beginning(days - 1)
  const before = beginning(2 * days - 1)
  const beforeTo = Math.min(before + nowSeconds - from, from)
  const current = tasks.filter(({ ended }) => ended >= from)
  const failed = current.filter(({ status }) => status === 'failed' || status === 'aborted')
  const counted = <Key>(keys: readonly Key[]) =>
    [...new Set(keys)].map((key) => ({ key, count: keys.filter((one) => one === key).length }))
  const ranked = (keys: readonly string[]) =>
    counted(keys).toSorted((one, other) => other.count - one.count || (one.key < other.key ? -1 : 1))
  const figuresOf = (begin: number, end: number) => {
    const inside = tasks.filter(({ ended }) => ended >= begin && ended < end)
    const four = deliveryFiguresOf(tasks, all, { from: begin, to: end, days, failuresFrom: before })
    return { ...endsOf(inside), ...closely(four), locked_seconds: expect.any(Number) }
  }
  return {
    total: { ...figuresOf(from, Number.POSITIVE_INFINITY), from, to: nowSeconds },
    before: { ...figuresOf(before, beforeTo), from: before, to: beforeTo },
    by_day: Array.from({ length: days }, (_, index) => {
      const day = today.subtract({ days: days - 1 - index }).toString()
      const [begin, end] = [beginning(days - 1 - index), beginning(days - 2 - index)]
      const { deploy_frequency, change_failure_rate, rollbacks, ...ofDay } = figuresOf(begin, end)
      return { day, from: begin, to: end, ...ofDay }
    }),
    causes: ranked(failed.map(({ cause }) => cause ?? '')).map(({ key, count }) => ({
      cause: key,
      count,
    })) as History['causes'],
    most_failing: ranked(failed.map(({ app }) => app)).map(({ key: app }) => {
      const own = current.filter((task) => task.app === app)
      const seconds = own.filter(({ status }) => status === 'deployed').map((task) => task.seconds)
      return {
        app,
        counts: countsOf(own),
        ...(seconds.length > 0 && { median_seconds: expect.closeTo(quantile(seconds, 0.5), 2) }),
      }
    }),
    ...(days === 1 && {
      marks: current
        .filter(({ status }) => ['deployed', 'failed', 'aborted'].includes(status))
        .toSorted((one, other) => one.ended - other.ended || (one.id < other.id ? -1 : 1))
        .map(({ id, app, status, ended }) => ({ id, app, status, ended })),
    }),
  }
}

test('every history is what a look at each task gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aTask, { maxLength: 60 }),
      fc.array(
        fc.record({
          days: fc.constantFrom(1, 7, 30, 90),
          tz: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati'),
          app: fc.option(anApp, { nil: undefined, freq: 3 }),
          project: fc.option(fc.constantFrom('p1', 'p2'), { nil: undefined, freq: 3 }),
          environment: fc.option(fc.constantFrom('production', 'staging'), { nil: undefined, freq: 3 }),
          isScoped: fc.boolean(),
        }),
        { minLength: 4, maxLength: 4 },
      ),
      async (drawn, asked) => {
        await sql`DELETE FROM watcher.tasks`.execute(database.query)
        const stored = drawn.map(storedOf)
        const ids = await storeTasks(database, stored)
        const known = stored.flatMap((task, index): Known[] => {
          const { app = '', status = 'deployed', seconds = 0 } = task
          // As the database rounds them.
          const ended = Math.round((task.created + seconds) * 1000) / 1000
          return status === 'in progress' ? [] : [{ ...task, app, status, seconds, id: ids[index] ?? '', ended }]
        })
        for (const { isScoped, ...filter } of asked) {
          const globs = isScoped ? ['team/*'] : undefined
          const matching = known.filter(
            ({ app, project, environment }) =>
              [app, project, environment].join() ===
                [filter.app ?? app, filter.project ?? project, filter.environment ?? environment].join() &&
              (globs?.some((glob) => matchesGlob(app, glob)) ?? true),
          )
          const history = await tell(filter as HistoryFilter, globs)
          expect(history).toEqual({
            as_of: nowSeconds,
            days: filter.days,
            time_zone: filter.tz,
            ...expectedOf(matching, known, filter.days, filter.tz),
          })
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('the locked time is that of each day and period', async () => {
  await sql`DELETE FROM watcher.tasks`.execute(database.query)
  const { total, before, by_day } = await tell({ days: 7, tz: 'Europe/Berlin' })
  expect([total.locked_seconds, before.locked_seconds]).toEqual([4.5 * hour, 0])
  expect(by_day.map(({ day, locked_seconds }) => [day, locked_seconds]).slice(-3)).toEqual([
    ['2026-10-24', 2 * hour],
    ['2026-10-25', 2.5 * hour],
    ['2026-10-26', 0],
  ])
})

test('a day has up to 1,000 marks, the newest, and up to 10 applications that fail most', async () => {
  await sql`DELETE FROM watcher.tasks`.execute(database.query)
  const tasks = Array.from({ length: 1_001 }, (_, index) => ({
    created: nowSeconds - 2_000 + index,
    app: `app-${index % 12}`,
    status: 'failed' as const,
  }))
  const ids = await storeTasks(database, tasks)
  const { marks = [], marks_capped, most_failing } = await tell({ days: 1 })
  expect(marks.map(({ id }) => id)).toEqual(ids.slice(1))
  expect(marks_capped).toBe(true)
  expect(most_failing.length).toBe(10)
})
