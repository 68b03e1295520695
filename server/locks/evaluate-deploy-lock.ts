import { DeployLockUnknownError } from './deploy-lock-errors.ts'
import type { Interval } from './lockdown-times.ts'
import type { StoredLock } from './stored-lock.ts'

/** The times in which no task is accepted, as far as they were computed. */
export type LockdownCalendar = { readonly known: Interval; readonly intervals: readonly Interval[] }

/** An end that is not known, or never comes, is null. */
type LockdownPeriod = { readonly from: Date; readonly to: Date | null }

export type DeployLockStatus = {
  readonly active: boolean
  readonly source: 'manual' | 'schedule' | null
  readonly since: Date | null
  readonly until: Date | null
  readonly reason: string | null
  readonly setBy: string | null
  /** Where the end is known; never 0. */
  readonly retryAfterSeconds: number | undefined
  /** The next time of a lockdown window that has not begun; also the rest of one that a user has opened. */
  readonly nextWindow: LockdownPeriod | null
  /** While a user has opened the current window. */
  readonly overrideUntil: Date | null
}

const maxDateMs = 8.64e15

/** What holds without any lockdown window. */
export const neverClosed: LockdownCalendar = {
  known: { from: new Date(-maxDateMs), to: new Date(maxDateMs) },
  intervals: [],
}

/**
 * Says whether new tasks are refused at an instant of the database's clock. A person's word comes before the schedule's.
 *
 * @throws {DeployLockUnknownError} if the instant lies outside of the times that are known
 */
export function evaluateDeployLock(
  at: Date,
  { known, intervals }: LockdownCalendar,
  stored: StoredLock,
): DeployLockStatus {
  if (at < known.from || at >= known.to) throw new DeployLockUnknownError(at, known)
  const closed = afterOverride(intervals, at, stored.overrideUntil)
  const window = closed.find((interval) => holds(interval, at))
  const next = closed.find(({ from }) => from > at)
  const endOf = ({ to }: Interval) => (to < known.to ? to : null)
  const nextWindow = next ? { from: next.from, to: endOf(next) } : null
  const overrideUntil = stored.overrideUntil && at < stored.overrideUntil ? stored.overrideUntil : null
  if (isSetAt(at, stored)) {
    const until = stored.until && endOfManual(stored.until, closed, endOf)
    return {
      ...active('manual', at, until),
      since: stored.since,
      reason: stored.reason,
      setBy: stored.setBy,
      nextWindow,
      overrideUntil,
    }
  }
  if (!window) return { ...inactive, nextWindow, overrideUntil }
  const since = window.from > known.from ? window.from : null
  return { ...active('schedule', at, endOf(window)), since, reason: null, setBy: null, nextWindow, overrideUntil }
}

/** The lockdown window that holds at an instant, whatever people did. */
export const windowAt = ({ intervals }: LockdownCalendar, at: Date): Interval | undefined =>
  intervals.find((interval) => holds(interval, at))

export const isSetAt = (at: Date, { isSet, until }: StoredLock) => isSet && (until === null || at < until)

const holds = ({ from, to }: Interval, at: Date) => from <= at && at < to

/** While an override lasts, windows begin at its end. */
function afterOverride(intervals: readonly Interval[], at: Date, overrideUntil: Date | null): readonly Interval[] {
  if (overrideUntil === null || at >= overrideUntil) return intervals
  return intervals
    .map(({ from, to }) => ({ from: from < overrideUntil ? overrideUntil : from, to }))
    .filter(({ from, to }) => from < to)
}

/** Where a window goes on after a manual lock, tasks are refused until the window's end. */
function endOfManual(until: Date, closed: readonly Interval[], endOf: (window: Interval) => Date | null): Date | null {
  const window = closed.find((interval) => holds(interval, until))
  return window ? endOf(window) : until
}

const inactive = {
  active: false,
  source: null,
  since: null,
  until: null,
  reason: null,
  setBy: null,
  retryAfterSeconds: undefined,
} as const

const active = (source: 'manual' | 'schedule', at: Date, until: Date | null) => ({
  active: true,
  source,
  until,
  retryAfterSeconds: until ? Math.ceil((until.getTime() - at.getTime()) / 1000) : undefined,
})
