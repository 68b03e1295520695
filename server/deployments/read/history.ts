import { type Kysely, type RawBuilder, sql } from 'kysely'
import { Temporal } from 'temporal-polyfill' // is the built-in one where there is one
import type { Cause } from '../../../contract/causes.ts'
import {
  daysOf,
  type FailingApp,
  type History,
  type HistoryDurations,
  type HistoryFilter,
  type HistoryLeadTime,
  type HistoryMark,
  type HistoryRestore,
  maxFailingApps,
  maxMarks,
} from '../../../contract/history.ts'
import { finalStatuses } from '../../../contract/task-status.ts'
import type { Schema } from '../../storage/schema.ts'
import { readInTime } from './read-in-time.ts'
import { matchesFilter } from './task-filter-conditions.ts'

/** From inside, to outside. */
export type Span = { readonly from: Date; readonly to: Date }

export type HistoryRange = {
  /** Days of the time zone, the last one today. A day of a clock change has 23 or 25 hours. */
  readonly days: readonly (Span & { readonly day: string })[]
  /** From the first day until now. */
  readonly total: Span
  /** It begins as many days earlier, and is as long. */
  readonly before: Span
}

/** The days that a history of some days tells of. */
export function historyRange(count: number, timeZone: string, now: Date): HistoryRange {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate()
  const begins = (daysAgo: number) =>
    new Date(today.subtract({ days: daysAgo }).toZonedDateTime(timeZone).epochMilliseconds)
  const days = Array.from({ length: count }, (_, index) => {
    const daysAgo = count - 1 - index
    return { day: today.subtract({ days: daysAgo }).toString(), from: begins(daysAgo), to: begins(daysAgo - 1) }
  })
  const [from, earlier] = [begins(count - 1), begins(2 * count - 1)]
  const lastMs = Math.min(earlier.getTime() + now.getTime() - from.getTime(), from.getTime())
  return { days, total: { from, to: now }, before: { from: earlier, to: new Date(lastMs) } }
}

type Dependencies = {
  readonly read: (range: HistoryRange, filter: HistoryFilter, globs?: readonly string[]) => Promise<FoundHistory>
  /** When deployments were locked, without overlaps. */
  readonly lockedTimes: (range: Span) => Promise<readonly Span[]>
  readonly now: () => Date
}

/** Tells what ended in the last days, beside the days before. */
export const createReadHistory =
  ({ read, lockedTimes, now }: Dependencies) =>
  async (filter: HistoryFilter, globs?: readonly string[]): Promise<History> => {
    const at = now()
    const timeZone = filter.tz ?? 'UTC'
    const range = historyRange(daysOf(filter), timeZone, at)
    const [found, locked] = await Promise.all([
      read(range, filter, globs),
      lockedTimes({ from: range.before.from, to: at }),
    ])
    const spanOf = (span: Span) => ({
      from: span.from.getTime() / 1000,
      to: span.to.getTime() / 1000,
      locked_seconds: secondsWithin(locked, span),
    })
    return {
      as_of: at.getTime() / 1000,
      days: range.days.length,
      time_zone: timeZone,
      total: { ...spanOf(range.total), ...found.total },
      before: { ...spanOf(range.before), ...found.before },
      by_day: range.days.map((day, index) => ({
        day: day.day,
        ...spanOf(day),
        ...(found.byDay[index] ?? { counts: {} }),
      })),
      causes: [...found.causes],
      most_failing: [...found.mostFailing],
      ...(range.days.length === 1 && { marks: found.marks.slice(0, maxMarks).toReversed() }),
      ...(found.marks.length > maxMarks && { marks_capped: true }),
    }
  }

const secondsWithin = (spans: readonly Span[], { from, to }: Span): number =>
  spans.reduce((sum, span) => {
    const overlapMs = Math.min(span.to.getTime(), to.getTime()) - Math.max(span.from.getTime(), from.getTime())
    return sum + Math.max(0, overlapMs) / 1000
  }, 0)

type Counts = FailingApp['counts']
type EndedTasks = {
  readonly counts: Counts
  readonly durations?: HistoryDurations
  readonly lead_time?: HistoryLeadTime
  readonly restore?: HistoryRestore
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
type RestoreRow = { readonly bucket: number | null; readonly median: number; readonly known: number }
type Row = {
  /** The whole time, the period before, each day. */
  readonly periods: readonly PeriodRow[]
  readonly leads: readonly LeadRow[] | null
  readonly restores: readonly RestoreRow[] | null
  readonly causes: FoundHistory['causes'] | null
  readonly failing: readonly { app: string; counts: number[]; median: number | null }[] | null
  readonly marks: readonly HistoryMark[] | null
}

/** The places of a lead time, or of a restoring end, among the limits of the range: in the period before, after that, and in the first day. */
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
  const bad = matching
    .where('status', 'in', ['failed', 'aborted'])
    .where('ended', '>=', range.before.from)
    .where('ended', '<', end)
    .select(['app', 'created', 'ended'])
  // Created after it too: the index of deployed tasks leads there.
  const deployedAfter = query
    .selectFrom('tasks')
    .where('status', '=', 'deployed')
    .where(sql<boolean>`tasks.app = bad.app AND tasks.created > bad.created AND tasks.ended > bad.ended`)
    .select(['id', 'ended'])
    .orderBy('created')
    .orderBy('id')
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
    restores: sql`SELECT bucket, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median, count(*) AS known
      FROM (
        SELECT width_bucket(restored.ended, ${limits}::timestamptz[]) AS bucket,
          date_part('epoch', restored.ended - min(bad.ended)) AS seconds
        FROM (${bad}) AS bad CROSS JOIN LATERAL (
          ${deployedAfter}
        ) AS restored WHERE restored.ended < ${end} GROUP BY restored.id, restored.ended
      ) AS restore GROUP BY ${buckets}`,
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
  const { periods, leads, restores, causes, failing, marks } = rows[0] ?? {}
  const [total, before, ...byDay] = periods ?? []
  const of = (period: PeriodRow | undefined, bucket: number | null) => {
    const isOfBucket = (row: { readonly bucket: number | null }) => row.bucket === bucket
    return endedTasksOf(period, leads?.find(isOfBucket), restores?.find(isOfBucket))
  }
  return {
    total: of(total, null),
    before: of(before, isBefore),
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
    ...(restore && { restore: { median_seconds: restore.median, known: restore.known } }),
  }
}

const countsOf = (counted: readonly number[]): Counts =>
  Object.fromEntries(
    finalStatuses.map((status, index) => [status, counted[index] ?? 0]).filter(([, count]) => count !== 0),
  )
