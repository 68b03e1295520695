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
  type HistoryRollbacks,
  type HistoryTimeToRestore,
  maxMarks,
} from '../../../contract/history.ts'

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
    const periodOf = (ended: EndedInPeriod) => ({ ...ended, ...ratesOf(ended.counts, range.days.length) })
    const spanOf = (span: Span) => ({
      from: span.from.getTime() / 1000,
      to: span.to.getTime() / 1000,
      locked_seconds: secondsWithin(locked, span),
    })
    return {
      as_of: at.getTime() / 1000,
      days: range.days.length,
      time_zone: timeZone,
      total: { ...spanOf(range.total), ...periodOf(found.total) },
      before: { ...spanOf(range.before), ...periodOf(found.before) },
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

/** Decision 0028. Without a failed or a deployed task there is no rate. */
function ratesOf({ deployed = 0, failed = 0 }: Counts, days: number) {
  const rate = failed / (deployed + failed)
  return { deploy_frequency: deployed / days, ...(!Number.isNaN(rate) && { change_failure_rate: rate }) }
}

const secondsWithin = (spans: readonly Span[], { from, to }: Span): number =>
  spans.reduce((sum, span) => {
    const overlapMs = Math.min(span.to.getTime(), to.getTime()) - Math.max(span.from.getTime(), from.getTime())
    return sum + Math.max(0, overlapMs) / 1000
  }, 0)

export type Counts = FailingApp['counts']
export type EndedTasks = {
  readonly counts: Counts
  readonly durations?: HistoryDurations
  readonly lead_time?: HistoryLeadTime
  readonly time_to_restore?: HistoryTimeToRestore
}
type EndedInPeriod = EndedTasks & { readonly rollbacks: HistoryRollbacks[] }
export type FoundHistory = {
  readonly total: EndedInPeriod
  readonly before: EndedInPeriod
  readonly byDay: readonly EndedTasks[]
  readonly causes: readonly { readonly cause: Cause; readonly count: number }[]
  readonly mostFailing: readonly FailingApp[]
  /** One more than are shown, newest first; none for more than one day. */
  readonly marks: readonly HistoryMark[]
}
