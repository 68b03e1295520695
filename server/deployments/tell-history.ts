import { daysOf, type History, type HistoryFilter, maxMarks } from '../../contract/history.ts'
import { type HistoryRange, historyRange, type Span } from './history-range.ts'
import type { FoundHistory } from './read-history.ts'

type Dependencies = {
  readonly read: (range: HistoryRange, filter: HistoryFilter, globs?: readonly string[]) => Promise<FoundHistory>
  /** When deployments were locked, without overlaps. */
  readonly lockedTimes: (range: Span) => Promise<readonly Span[]>
  readonly now: () => Date
}

/** Tells what ended in the last days, beside the days before. */
export const createTellHistory =
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
