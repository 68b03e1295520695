import { type Kysely, sql } from 'kysely'
import type { AppSummaries, AppSummary } from '../../contract/app-summary.ts'
import { finalStatuses, type TaskStatus } from '../../contract/task-status.ts'
import type { Schema } from '../storage/schema.ts'
import { isGivenUp, withTimeLimit } from '../storage/time-limit.ts'
import { ReadTimedOutError } from './task-errors.ts'

type Row = {
  readonly as_of: number
  /** Absent where no application has a task. */
  readonly app: string | null
  readonly total: number
  readonly unfinished: number
  readonly bad: Partial<Record<TaskStatus, number>> | null
  readonly recent: TaskStatus[]
  readonly last_id: string | null
  readonly last_created: number
  readonly ten_seconds: readonly number[] | null
  readonly p95_seconds: number | null
}

/** PostgreSQL gives the statement up then. */
const summaryLimitMs = 3_000

/**
 * Of the applications that Argo CD has shown: their names are free text until then. Reads the window once, and for the rest
 * at most 110 tasks of each application; nearly all of it in indexes, application by application, so that nothing is grouped
 * or sorted but what belongs to one.
 * @throws {ReadTimedOutError}
 */
export async function summarizeApps(query: Kysely<Schema>, days: number): Promise<AppSummaries> {
  const rows = await withTimeLimit(query, summaryLimitMs, (limited) => readRows(limited, days)).catch((cause) => {
    throw isGivenUp(cause) ? new ReadTimedOutError('the summary', summaryLimitMs, 'fewer days', { cause }) : cause
  })
  const [first] = rows
  if (!first) throw new Error('the summary of the applications gave no row')
  return { as_of: first.as_of, days, apps: rows.flatMap(summaryOf) }
}

async function readRows(query: Kysely<Schema>, days: number): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    WITH names AS MATERIALIZED (${query.selectFrom('confirmed_applications').select('app')})
    SELECT as_of, summary.* FROM (SELECT date_part('epoch', now()) AS as_of) AS moment LEFT JOIN (
      SELECT names.app, total, unfinished, bad, recent, last_id, last_created, ten_seconds, p95_seconds
      FROM names
      CROSS JOIN LATERAL (${tasksOf(query, days).select(countAll.as('total'))}) AS counted
      CROSS JOIN LATERAL (${tasksOf(query, days).where('ended', 'is', null).select(countAll.as('unfinished'))}) AS waiting
      CROSS JOIN LATERAL ${recentOf(query, days)} AS newest
      CROSS JOIN LATERAL ${deployedOf(query, days)} AS deployed
      CROSS JOIN LATERAL ${badOnesOf(query, days)} AS bad_ones
      WHERE total > 0
    ) AS summary ON true ORDER BY app`.execute(query)
  return rows
}

function summaryOf({ app, total, unfinished, bad, recent, ...row }: Row): AppSummary[] {
  if (app === null) return []
  const deployed = total - unfinished - Object.values(bad ?? {}).reduce((sum, count) => sum + count, 0)
  return [
    {
      app,
      counts: { ...(unfinished > 0 && { 'in progress': unfinished }), ...(deployed > 0 && { deployed }), ...bad },
      ...(row.last_id !== null && { last_deployment: { id: row.last_id, created: row.last_created } }),
      ...(row.ten_seconds !== null && { median_seconds: medianOf(row.ten_seconds) }),
      ...(row.p95_seconds !== null && { p95_seconds: row.p95_seconds }),
      recent,
    },
  ]
}

const isWithin = (days: number) => sql<boolean>`created > now() - make_interval(days => ${days})`

const countAll = sql`count(*)::integer`

/** Of the application of the row beside it. */
const tasksOf = (query: Kysely<Schema>, days: number) =>
  query.selectFrom('tasks').where(sql<boolean>`tasks.app = names.app`).where(isWithin(days))

/** Those that did not end deployed: an index holds nothing else. */
function badOnesOf(query: Kysely<Schema>, days: number) {
  const bad = finalStatuses.filter((status) => status !== 'deployed').map((status) => sql.lit(status))
  const byStatus = tasksOf(query, days)
    .where(sql<boolean>`status IN (${sql.join(bad)})`)
    .select(['status', countAll.as('count')])
    .groupBy('status')
  return sql`(SELECT json_object_agg(status, count) AS bad FROM (${byStatus}) AS by_status)`
}

const newestOf = (query: Kysely<Schema>, days: number, limit: number) =>
  tasksOf(query, days).orderBy('created', 'desc').orderBy('id', 'desc').limit(limit)

function recentOf(query: Kysely<Schema>, days: number) {
  const tasks = newestOf(query, days, 10).select(['status', 'created', 'id'])
  return sql`(SELECT array_agg(status ORDER BY created DESC, id DESC) AS recent FROM (${tasks}) AS tasks)`
}

/** In one look at the last hundred, which are aggregated in the order in which they are read. */
function deployedOf(query: Kysely<Schema>, days: number) {
  const tasks = newestOf(query, days, 100)
    .where('status', '=', 'deployed')
    .select(['id', 'created', sql`date_part('epoch', ended - created)`.as('seconds')])
  return sql`(
    SELECT (array_agg(id))[1] AS last_id, date_part('epoch', (array_agg(created))[1]) AS last_created,
      (array_agg(seconds))[1:10] AS ten_seconds, percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95_seconds
    FROM (${tasks}) AS tasks)`
}

function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const [low = 0, high = low] = sorted.slice(Math.ceil(sorted.length / 2) - 1)
  return sorted.length % 2 === 1 ? low : (low + high) / 2
}
