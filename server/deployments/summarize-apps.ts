import { type Kysely, sql } from 'kysely'
import type { AppSummaries, AppSummary } from '../../contract/app-summary.ts'
import { finalStatuses, type TaskStatus } from '../../contract/task-status.ts'
import type { Schema } from '../storage/schema.ts'

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

/**
 * Reads the window once, and for the rest at most 110 tasks of each application; nearly all of it in indexes, application
 * by application, so that nothing is grouped or sorted but what belongs to one.
 */
export async function summarizeApps(query: Kysely<Schema>, days: number): Promise<AppSummaries> {
  const { rows } = await sql<Row>`
    WITH RECURSIVE ${namesOf(query)}, ${badOnes(query, days)}
    SELECT as_of, summary.* FROM (SELECT date_part('epoch', now()) AS as_of) AS moment LEFT JOIN (
      SELECT names.app, total, unfinished, bad, recent, last_id, last_created, ten_seconds, p95_seconds
      FROM names
      CROSS JOIN LATERAL (${tasksOf(query, days).select(countAll.as('total'))}) AS counted
      CROSS JOIN LATERAL (${tasksOf(query, days).where('ended', 'is', null).select(countAll.as('unfinished'))}) AS waiting
      CROSS JOIN LATERAL ${recentOf(query, days)} AS newest
      CROSS JOIN LATERAL ${deployedOf(query, days)} AS deployed
      LEFT JOIN bad_ones ON bad_ones.app = names.app
      WHERE total > 0
    ) AS summary ON true ORDER BY app`.execute(query)
  const [first] = rows
  if (!first) throw new Error('the summary of the applications gave no row')
  return { as_of: first.as_of, days, apps: rows.flatMap(summaryOf) }
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

/** Each application's name, from one to the next in the index: there are many more groups than names. */
function namesOf(query: Kysely<Schema>) {
  const first = query.selectFrom('task_groups').select((build) => build.fn.min('app').as('app'))
  return sql`names (app) AS (
    ${first} UNION ALL SELECT (${first.where(sql<boolean>`task_groups.app > names.app`)}) FROM names WHERE names.app IS NOT NULL)`
}

const isWithin = (days: number) => sql<boolean>`created > now() - make_interval(days => ${days})`

const countAll = sql`count(*)::integer`

/** Of the application of the row beside it. */
const tasksOf = (query: Kysely<Schema>, days: number) =>
  query.selectFrom('tasks').where(sql<boolean>`tasks.app = names.app`).where(isWithin(days))

/** Those that did not end deployed, of all applications at once, since an index holds nothing else. */
function badOnes(query: Kysely<Schema>, days: number) {
  const bad = finalStatuses.filter((status) => status !== 'deployed').map((status) => sql.lit(status))
  const byStatus = query
    .selectFrom('tasks')
    .where(sql<boolean>`status IN (${sql.join(bad)})`)
    .where(isWithin(days))
    .select(['app', 'status', countAll.as('count')])
    .groupBy(['app', 'status'])
  return sql`bad_ones AS MATERIALIZED (
    SELECT app, json_object_agg(status, count) AS bad FROM (${byStatus}) AS by_status GROUP BY app)`
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
