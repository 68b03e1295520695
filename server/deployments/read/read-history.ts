import { type Kysely, type RawBuilder, sql } from 'kysely'
import {
  type HistoryFilter,
  type HistoryMark,
  type HistoryRollbacks,
  maxFailingApps,
  maxMarks,
} from '../../../contract/history.ts'
import { finalStatuses } from '../../../contract/task-status.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Counts, EndedTasks, FoundHistory, HistoryRange } from './history.ts'
import { readInTime } from './read-in-time.ts'
import { matchesFilter } from './task-filter-conditions.ts'

type PeriodRow = { readonly counts: number[]; readonly seconds: number[] | null }
/** Of a period by its number, or of the whole time: null. */
type LeadRow = { readonly bucket: number | null; readonly seconds: number[]; readonly known: number }
type RollbackRow = {
  readonly bucket: number | null
  readonly cause: HistoryRollbacks['cause'] | null
  readonly count: number
}
type RestoreRow = { readonly bucket: number | null; readonly median: number; readonly known: number }
type Row = {
  /** The whole time, the period before, each day. */
  readonly periods: readonly PeriodRow[]
  readonly leads: readonly LeadRow[] | null
  readonly restores: readonly RestoreRow[] | null
  /** Of the period before, or of all days: null. */
  readonly rollbacks: readonly RollbackRow[] | null
  readonly causes: FoundHistory['causes'] | null
  readonly failing: readonly { app: string; counts: number[]; median: number | null }[] | null
  readonly marks: readonly HistoryMark[] | null
}

/** The places of a lead time, or of a restoring end, among the limits of the range: in the period before, after that, and in the first day. */
const [isBefore, isBetween, isFirstDay] = [1, 2, 3]

/**
 * What ended in a range of time; with `globs` only of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function readHistory(
  query: Kysely<Schema>,
  range: HistoryRange,
  filter: Pick<HistoryFilter, 'app' | 'project' | 'environment'>,
  globs?: readonly string[],
): Promise<FoundHistory> {
  const matching = query.selectFrom('tasks').where(matchesFilter(filter, globs))
  const end = range.days.at(-1)?.to ?? range.total.to
  const spans = [{ from: range.total.from, to: end }, range.before, ...range.days]
  const ofSpan = matching.where(sql<boolean>`ended >= span.from AND ended < span.to`)
  const limits = [range.before.from, range.before.to, ...range.days.map(({ from }) => from)]
  const bucket = sql<number>`width_bucket(ended, ${limits}::timestamptz[])`.as('bucket')
  const current = matching.where('ended', '>=', range.total.from).where('ended', '<', end)
  const failed = current.where('status', 'in', ['failed', 'aborted'])
  const ofCommit = matching.where('status', '=', 'deployed').where('source_sha', 'is not', null)
  const firstOfCommit = ofCommit
    .where('ended', '>=', range.before.from)
    .where('ended', '<', end)
    .select(['source_sha', 'committed_at', 'ended', bucket])
    .distinctOn('source_sha')
    .orderBy('source_sha')
    .orderBy('ended')
    .orderBy('id')
  const earlier = ofCommit
    .select('id')
    .where('ended', '<', range.before.from)
    .where(sql<boolean>`tasks.source_sha = first.source_sha`)
  const decided = matching.where('ended', '>=', range.before.from).where('ended', '<', end)
  const changes = decided
    .where('status', 'in', ['deployed', 'failed'])
    .select(['app', 'status', 'ended', 'created', sql`lag(status) OVER ${ofApp}`.as('previous')])
  const deployedRollbacks = decided
    .where('status', '=', 'deployed')
    .where(sql<boolean>`is_rollback`)
    .select(['app', 'created', bucket])
  const replaced = query
    .selectFrom('tasks')
    .where(sql<boolean>`tasks.app = rollback.app AND tasks.created < rollback.created`)
    .select(sql`CASE WHEN status <> 'deployed' THEN cause END`.as('cause'))
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
  const parts = {
    // Span by span, where the index of the ends has them together: nothing is sorted but the durations.
    periods: sql`SELECT period.*
      FROM unnest(${spans.map(({ from }) => from)}::timestamptz[], ${spans.map(({ to }) => to)}::timestamptz[])
        WITH ORDINALITY AS span ("from", "to", place)
      CROSS JOIN LATERAL (
        SELECT ${counts}, percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY seconds)
          FILTER (WHERE status = 'deployed') AS seconds
        FROM (${ofSpan.select(['status', seconds])}) AS ended
      ) AS period ORDER BY place`,
    leads: sql`SELECT bucket, percentile_cont(ARRAY[0.5, 0.75]) WITHIN GROUP (ORDER BY seconds) AS seconds, count(*) AS known
      FROM (
        SELECT bucket, date_part('epoch', ended) - committed_at AS seconds FROM (${firstOfCommit}) AS first
        WHERE NOT EXISTS (${earlier})
      ) AS lead WHERE seconds >= 0 GROUP BY ${buckets}`,
    // Of each application the first of failed tasks in a row, and the first of deployed ones in a row.
    restores: sql`SELECT bucket, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median, count(*) AS known
      FROM (
        SELECT width_bucket(ended, ${limits}::timestamptz[]) AS bucket, status,
          date_part('epoch', ended - lag(ended) OVER ${ofApp}) AS seconds
        FROM (${changes}) AS change
        WHERE status IS DISTINCT FROM previous
      ) AS restore WHERE status = 'deployed' AND seconds IS NOT NULL GROUP BY ${buckets}`,
    rollbacks: sql`SELECT CASE WHEN bucket = ${sql.lit(isBefore)} THEN bucket END AS bucket, cause, count(*) AS count
      FROM (${deployedRollbacks}) AS rollback LEFT JOIN LATERAL (${replaced}) AS replaced ON true
      WHERE bucket <> ${sql.lit(isBetween)} GROUP BY 1, 2 ORDER BY count DESC, cause`,
    causes: failed
      .where('cause', 'is not', null)
      .select(['cause', sql`count(*)`.as('count')])
      .groupBy('cause')
      .orderBy('count', 'desc')
      .orderBy('cause'),
    failing: sql`SELECT app, ${counts}, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)
        FILTER (WHERE status = 'deployed') AS median, count(*) FILTER (WHERE status IN ('failed', 'aborted')) AS bad
      FROM (${current.select(['app', 'status', seconds])}) AS ended
      WHERE app IN (SELECT app FROM (
        ${failed.select('app').groupBy('app').orderBy(sql`count(*)`, 'desc').orderBy('app').limit(maxFailingApps)}) AS worst)
      GROUP BY app ORDER BY bad DESC, app`,
    marks: current
      .where('status', 'in', ['deployed', 'failed', 'aborted'])
      .select(['id', 'app', 'status', sql`date_part('epoch', ended)`.as('ended')])
      .orderBy('tasks.ended', 'desc')
      .orderBy('id', 'desc')
      .limit(range.days.length === 1 ? maxMarks + 1 : 0),
  }
  const read = sql<Row>`SELECT ${sql.join(Object.entries(parts).map(([name, part]) => asJson(name, part)))}`
  const { rows } = await readInTime(
    query,
    'history',
    'an application, a project, an environment or fewer days',
    (limited) => read.execute(limited),
  )
  const { periods, leads, restores, rollbacks, causes, failing, marks } = rows[0] ?? {}
  const [total, before, ...byDay] = periods ?? []
  const of = (period: PeriodRow | undefined, bucket: number | null) => {
    const isOfBucket = (row: { readonly bucket: number | null }) => row.bucket === bucket
    return endedTasksOf(period, leads?.find(isOfBucket), restores?.find(isOfBucket))
  }
  const rollbacksOf = (bucket: number | null) =>
    (rollbacks ?? [])
      .filter((row) => row.bucket === bucket)
      .map(({ cause, count }) => ({ ...(cause !== null && { cause }), count }))
  return {
    total: { ...of(total, null), rollbacks: rollbacksOf(null) },
    before: { ...of(before, isBefore), rollbacks: rollbacksOf(isBefore) },
    byDay: range.days.map((_, index) => of(byDay[index], isFirstDay + index)),
    causes: causes ?? [],
    mostFailing: (failing ?? []).map((row) => ({
      app: row.app,
      counts: countsOf(row.counts),
      ...(row.median !== null && { median_seconds: row.median }),
    })),
    marks: marks ?? [],
  }
}

/** Of an application in the order of their ends. */
const ofApp = sql`(PARTITION BY app COLLATE "C" ORDER BY ended, created)`
const seconds = sql<number>`date_part('epoch', ended - created)`.as('seconds')
const counts = sql`ARRAY[${sql.join(
  finalStatuses.map((status) => sql`count(*) FILTER (WHERE status = ${status})`),
)}] AS counts`
/** Of each one, and of all days together. */
const buckets = sql`GROUPING SETS ((bucket), (bucket >= ${sql.lit(isFirstDay)})) HAVING bucket IS NOT NULL OR bucket >= ${sql.lit(isFirstDay)}`

const asJson = (name: string, part: RawBuilder<unknown> | { as(alias: string): unknown }) =>
  sql`(SELECT json_agg(part) FROM (${part}) AS part) AS ${sql.ref(name)}`

function endedTasksOf(
  period: PeriodRow | undefined,
  lead: LeadRow | undefined,
  restore: RestoreRow | undefined,
): EndedTasks {
  const [median = 0, p95 = 0, p99 = 0] = period?.seconds ?? []
  const [half = 0, p75 = 0] = lead?.seconds ?? []
  return {
    counts: countsOf(period?.counts ?? []),
    ...(period?.seconds && { durations: { median_seconds: median, p95_seconds: p95, p99_seconds: p99 } }),
    ...(lead && { lead_time: { median_seconds: half, p75_seconds: p75, known: lead.known } }),
    ...(restore && { time_to_restore: { median_seconds: restore.median, known: restore.known } }),
  }
}

const countsOf = (counted: readonly number[]): Counts =>
  Object.fromEntries(
    finalStatuses.map((status, index) => [status, counted[index] ?? 0]).filter(([, count]) => count !== 0),
  )
