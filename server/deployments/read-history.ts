import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Cause } from '../../contract/causes.ts'
import {
  type FailingApp,
  type HistoryDurations,
  type HistoryFilter,
  type HistoryLeadTime,
  type HistoryMark,
  maxFailingApps,
  maxMarks,
} from '../../contract/history.ts'
import { finalStatuses } from '../../contract/task-status.ts'
import type { Schema } from '../storage/schema.ts'
import type { HistoryRange } from './history-range.ts'
import { readInTime } from './read-in-time.ts'
import { matchesFilter } from './task-filter-conditions.ts'

type Counts = FailingApp['counts']
type EndedTasks = {
  readonly counts: Counts
  readonly durations?: HistoryDurations
  readonly lead_time?: HistoryLeadTime
}
export type FoundHistory = {
  readonly total: EndedTasks
  readonly before: EndedTasks
  readonly byDay: readonly EndedTasks[]
  readonly causes: readonly { readonly cause: Cause; readonly count: number }[]
  readonly mostFailing: readonly FailingApp[]
  /** One more than are shown, newest first; none for more than one day. */
  readonly marks: readonly HistoryMark[]
}

type PeriodRow = { readonly counts: number[]; readonly seconds: number[] | null }
/** Of a period by its number, or of the whole time: null. */
type LeadRow = { readonly bucket: number | null; readonly seconds: number[]; readonly known: number }
type Row = {
  /** The whole time, the period before, each day. */
  readonly periods: readonly PeriodRow[]
  readonly leads: readonly LeadRow[] | null
  readonly causes: FoundHistory['causes'] | null
  readonly failing: readonly { app: string; counts: number[]; median: number | null }[] | null
  readonly marks: readonly HistoryMark[] | null
}

/** The places of a lead time among the limits of the range: in the period before, after that, and in the first day. */
const [isBefore, , isFirstDay] = [1, 2, 3]

/**
 * What ended in a range of time; with `globs` only of the applications that they match.
 * @throws {ReadTimedOutError}
 */
export async function readHistory(
  query: Kysely<Schema>,
  range: HistoryRange,
  { app, project }: Pick<HistoryFilter, 'app' | 'project'>,
  globs?: readonly string[],
): Promise<FoundHistory> {
  const matching = query.selectFrom('tasks').where(matchesFilter({ app, project }, globs))
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
  const { rows } = await readInTime(query, 'history', 'an application, a project or fewer days', (limited) =>
    read.execute(limited),
  )
  const { periods, leads, causes, failing, marks } = rows[0] ?? {}
  const [total, before, ...byDay] = periods ?? []
  const leadOf = (bucket: number | null) => leads?.find((row) => row.bucket === bucket)
  return {
    total: endedTasksOf(total, leadOf(null)),
    before: endedTasksOf(before, leadOf(isBefore)),
    byDay: range.days.map((_, index) => endedTasksOf(byDay[index], leadOf(isFirstDay + index))),
    causes: causes ?? [],
    mostFailing: (failing ?? []).map((row) => ({
      app: row.app,
      counts: countsOf(row.counts),
      ...(row.median !== null && { median_seconds: row.median }),
    })),
    marks: marks ?? [],
  }
}

const seconds = sql<number>`date_part('epoch', ended - created)`.as('seconds')
const counts = sql`ARRAY[${sql.join(
  finalStatuses.map((status) => sql`count(*) FILTER (WHERE status = ${status})`),
)}] AS counts`
/** Of each one, and of all days together. */
const buckets = sql`GROUPING SETS ((bucket), (bucket >= ${sql.lit(isFirstDay)})) HAVING bucket IS NOT NULL OR bucket >= ${sql.lit(isFirstDay)}`

const asJson = (name: string, part: RawBuilder<unknown> | { as(alias: string): unknown }) =>
  sql`(SELECT json_agg(part) FROM (${part}) AS part) AS ${sql.ref(name)}`

function endedTasksOf(period: PeriodRow | undefined, lead: LeadRow | undefined): EndedTasks {
  const [median = 0, p95 = 0, p99 = 0] = period?.seconds ?? []
  const [half = 0, p75 = 0] = lead?.seconds ?? []
  return {
    counts: countsOf(period?.counts ?? []),
    ...(period?.seconds && { durations: { median_seconds: median, p95_seconds: p95, p99_seconds: p99 } }),
    ...(lead && { lead_time: { median_seconds: half, p75_seconds: p75, known: lead.known } }),
  }
}

const countsOf = (counted: readonly number[]): Counts =>
  Object.fromEntries(
    finalStatuses.map((status, index) => [status, counted[index] ?? 0]).filter(([, count]) => count !== 0),
  )
