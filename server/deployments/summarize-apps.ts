import { type Kysely, sql } from 'kysely'
import type { AppSummaries, AppSummary } from '../../contract/app-summary.ts'
import type { TaskStatus } from '../../contract/task-status.ts'
import type { Schema } from '../storage/schema.ts'
import { isGivenUp, withTimeLimit } from '../storage/time-limit.ts'
import { ReadTimedOutError, readLimitMs } from './task-errors.ts'

type Row = {
  readonly as_of: number
  /** Absent where no application has a task. */
  readonly app: string | null
  readonly counts: Partial<Record<TaskStatus, number>>
  readonly recent: TaskStatus[]
  readonly last_id: string | null
  readonly last_created: number
  /** Of the last hundred deployed ones, newest first. */
  readonly seconds: readonly number[] | null
}

/**
 * Of the applications that Argo CD has shown: their names are free text until then.
 * @throws {ReadTimedOutError}
 */
export async function summarizeApps(query: Kysely<Schema>, days: number): Promise<AppSummaries> {
  const rows = await withTimeLimit(query, readLimitMs, (limited) => readRows(limited, days)).catch((cause) => {
    throw isGivenUp(cause) ? new ReadTimedOutError('summary', 'fewer days', { cause }) : cause
  })
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
  const newest = tasks.select(['id', 'status', 'created', 'ended']).orderBy('created', 'desc').orderBy('id', 'desc')
  const { rows } = await sql<Row>`
    SELECT as_of, summary.* FROM (SELECT date_part('epoch', now()) AS as_of) AS moment LEFT JOIN (
      SELECT names.app, counts, recent, last_id, last_created, seconds
      FROM (${query.selectFrom('confirmed_applications').select('app')}) AS names
      CROSS JOIN LATERAL (SELECT json_object_agg(status, count) AS counts FROM (${byStatus}) AS by_status) AS counted
      CROSS JOIN LATERAL (SELECT array_agg(status) AS recent FROM (${newest.limit(10)}) AS newest) AS newest
      CROSS JOIN LATERAL (
        SELECT (array_agg(id))[1] AS last_id, date_part('epoch', (array_agg(created))[1]) AS last_created,
          array_agg(date_part('epoch', ended - created)) AS seconds
        FROM (${newest.where('status', '=', 'deployed').limit(100)}) AS deployed) AS deployed
      WHERE counts IS NOT NULL
    ) AS summary ON true ORDER BY app`.execute(query)
  return rows
}

function summaryOf({ app, counts, recent, last_id, last_created, seconds }: Row): AppSummary[] {
  if (app === null) return []
  return [
    {
      app,
      counts,
      ...(last_id !== null && { last_deployment: { id: last_id, created: last_created } }),
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
