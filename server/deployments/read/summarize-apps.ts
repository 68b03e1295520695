import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type AppSummaries, type AppSummary, maxSummaryImages } from '../../../contract/app-summary.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import type { Schema } from '../../storage/schema.ts'
import { readInTime } from './read-in-time.ts'

type Row = {
  readonly as_of: number
  /** Absent where no application has a task. */
  readonly app: string | null
  readonly counts: Partial<Record<TaskStatus, number>>
  readonly recent: AppSummary['recent']
  readonly latest: AppSummary['latest'] | null
  readonly last_deployment: AppSummary['last_deployment'] | null
  /** Of the last hundred deployed ones, newest first. */
  readonly seconds: readonly number[] | null
}

/**
 * Of the applications that Argo CD has shown: their names are free text until then.
 * @throws {ReadTimedOutError}
 */
export async function summarizeApps(query: Kysely<Schema>, days: number): Promise<AppSummaries> {
  const rows = await readInTime(query, 'summary', 'fewer days', (limited) => readRows(limited, days))
  const [first] = rows
  if (!first) throw new Error('the summary of the applications gave no row')
  return { as_of: first.as_of, days, apps: rows.flatMap(summaryOf) }
}

/** Application by application, so that what is grouped and sorted belongs to one. */
async function readRows(query: Kysely<Schema>, days: number): Promise<readonly Row[]> {
  const tasks = query
    .selectFrom('tasks')
    .where(sql<boolean>`tasks.app = names.app`)
    .where(sql<boolean>`created > now() - make_interval(days => ${days})`)
  const byStatus = tasks.select(['status', sql`count(*)`.as('count')]).groupBy('status')
  const newest = tasks.orderBy('created', 'desc').orderBy('id', 'desc')
  const recent = newest.select(['id', 'status']).limit(10)
  const latest = newest.where('status', 'not in', ['cancelled', 'app not found']).limit(1)
  const deployed = newest.where('status', '=', 'deployed')
  const durations = deployed.select(epoch(sql`ended - created`).as('seconds')).limit(100)
  const { rows } = await sql<Row>`
    SELECT as_of, summary.* FROM (SELECT date_part('epoch', now()) AS as_of) AS moment LEFT JOIN (
      SELECT names.app, counts, recent, latest, last_deployment, seconds
      FROM (${query.selectFrom('confirmed_applications').select('app')}) AS names
      CROSS JOIN LATERAL (SELECT json_object_agg(status, count) AS counts FROM (${byStatus}) AS by_status) AS counted
      CROSS JOIN LATERAL (SELECT json_agg(one) AS recent FROM (${recent}) AS one) AS newest
      LEFT JOIN LATERAL (
        SELECT json_strip_nulls(to_json(one)) AS latest
        FROM (${latest.select(['id', 'status', 'cause', headline, 'author', epoch(sql`ended`).as('ended'), ...shown])}) AS one
      ) AS latest ON true
      LEFT JOIN LATERAL (
        SELECT json_strip_nulls(to_json(one)) AS last_deployment FROM (${deployed.select(['id', ...shown]).limit(1)}) AS one
      ) AS last_deployment ON true
      CROSS JOIN LATERAL (SELECT array_agg(seconds) AS seconds FROM (${durations}) AS one) AS durations
      WHERE counts IS NOT NULL
    ) AS summary ON true ORDER BY app`.execute(query)
  return rows
}

const epoch = (time: RawBuilder<unknown>) => sql<number>`date_part('epoch', ${time})`

const headline = sql<string | null>`diagnosis ->> 'headline'`.as('headline')

/** What is shown of one task beside its id. An anonymous caller may submit many images for an application. */
const shown = [
  epoch(sql`created`).as('created'),
  sql`environment`.as('environment'),
  sql`jsonb_path_query_array(images, ${`$[0 to ${maxSummaryImages - 1}]`}::jsonpath)`.as('images'),
  sql`jsonb_array_length(images)`.as('image_count'),
]

function summaryOf({ app, counts, recent, latest, last_deployment, seconds }: Row): AppSummary[] {
  if (app === null) return []
  return [
    {
      app,
      counts,
      ...(latest && { latest }),
      ...(last_deployment && { last_deployment }),
      ...(seconds !== null && {
        median_seconds: quantileOf(seconds.slice(0, 10), 0.5),
        p95_seconds: quantileOf(seconds, 0.95),
      }),
      recent,
    },
  ]
}

/** Between two values in proportion, as percentile_cont. */
function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const position = (sorted.length - 1) * share
  const [low = 0, high = low] = sorted.slice(Math.floor(position))
  return low + (high - low) * (position % 1)
}
