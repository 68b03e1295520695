import type { LockPeriod } from './lock-calendar.ts'
import { closedIntervals, type Interval, type LockdownSchedule } from './lockdown-times.ts'

/** The changes of users that are read for a range. More in half a year are those of a program. */
export const maxLockChanges = 10_000

/**
 * When deployments were locked in a range of the past, in order and without overlaps: by users, and by the schedule as it is
 * now where no user had opened its window.
 */
export function lockedTimes(
  range: Interval,
  schedule: LockdownSchedule,
  periods: readonly Pick<LockPeriod, 'kind' | 'from' | 'to'>[],
): readonly Interval[] {
  const cut = periods
    .map(({ kind, from, to }) => ({ kind, from: later(from, range.from), to: earlier(to ?? range.to, range.to) }))
    .filter(({ from, to }) => from < to)
  const opened = cut.filter(({ kind }) => kind === 'opened')
  const scheduled = opened.reduce<readonly Interval[]>(
    (windows, open) => windows.flatMap((window) => without(window, open)),
    closedIntervals(schedule, range.from, range.to),
  )
  return merged([...scheduled, ...cut.filter(({ kind }) => kind === 'manual')])
}

const earlier = (one: Date, other: Date) => (one < other ? one : other)
const later = (one: Date, other: Date) => (one > other ? one : other)

const without = ({ from, to }: Interval, hole: Interval): Interval[] =>
  [
    { from, to: earlier(to, hole.from) },
    { from: later(from, hole.to), to },
  ].filter((part) => part.from < part.to)

function merged(intervals: readonly Interval[]): readonly Interval[] {
  const all: { readonly from: Date; to: Date }[] = []
  for (const { from, to } of intervals.toSorted((one, other) => one.from.getTime() - other.from.getTime())) {
    const last = all.at(-1)
    if (last && from <= last.to) last.to = later(last.to, to)
    else all.push({ from, to })
  }
  return all
}
