import { type Kysely, sql } from 'kysely'
import type { AppSummaries, AppSummary } from '../../contract/app-summary.ts'
import type { Schema } from '../storage/schema.ts'

/** Reads the window once, and for the rest at most 110 tasks of each application; all of it in the index of applications. */
export async function summarizeApps(query: Kysely<Schema>, days: number): Promise<AppSummaries> {
  const { rows } = await sql<{ as_of: string; apps: AppSummary[] }>`
    SELECT extract(epoch FROM now()) AS as_of, coalesce(jsonb_agg(summary ORDER BY app), '[]') AS apps
    FROM (
      SELECT app, jsonb_strip_nulls(jsonb_build_object(
        'app', app, 'counts', counts, 'recent', recent, 'last_deployment', last_deployment,
        'median_seconds', median_seconds, 'p95_seconds', p95_seconds)) AS summary
      FROM ${countsOf(query, days)} AS counted
      CROSS JOIN LATERAL ${recentOf(query, days)} AS newest
      CROSS JOIN LATERAL ${deployedOf(query, days)} AS deployed
    ) AS summaries`.execute(query)
  const [row] = rows
  if (!row) throw new Error('the summary of the applications gave no row')
  return { as_of: Number(row.as_of), days, apps: row.apps }
}

const isWithin = (days: number) => sql<boolean>`created > now() - make_interval(days => ${days})`

/** Naming all applications lets the index be read where the window is, and nowhere else. */
function countsOf(query: Kysely<Schema>, days: number) {
  const apps = query.selectFrom('task_groups').select('app').distinct()
  const byStatus = query
    .selectFrom('tasks')
    .select(['app', 'status', (build) => build.fn.countAll().as('count')])
    .where(sql<boolean>`app = ANY(ARRAY(${apps}))`)
    .where(isWithin(days))
    .groupBy(['app', 'status'])
  return sql`(SELECT app, jsonb_object_agg(status, count) AS counts FROM (${byStatus}) AS by_status GROUP BY app)`
}

/** Of the application of the row beside it, newest first. */
const newestOf = (query: Kysely<Schema>, days: number, limit: number) =>
  query
    .selectFrom('tasks')
    .where(sql<boolean>`tasks.app = counted.app`)
    .where(isWithin(days))
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)

function recentOf(query: Kysely<Schema>, days: number) {
  const tasks = newestOf(query, days, 10).select(['status', 'created', 'id'])
  return sql`(SELECT jsonb_agg(status ORDER BY created DESC, id DESC) AS recent FROM (${tasks}) AS tasks)`
}

function deployedOf(query: Kysely<Schema>, days: number) {
  const tasks = newestOf(query, days, 100)
    .where('status', '=', 'deployed')
    .select([
      'id',
      'created',
      sql`extract(epoch FROM ended - created)::double precision`.as('seconds'),
      sql`row_number() OVER (ORDER BY created DESC, id DESC)`.as('place'),
    ])
  return sql`(
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE place <= 10) AS median_seconds,
      percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95_seconds,
      jsonb_agg(jsonb_build_object('id', id, 'created', extract(epoch FROM created))) FILTER (WHERE place = 1) -> 0
        AS last_deployment
    FROM (${tasks}) AS tasks)`
}
