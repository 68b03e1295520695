import { DeployLockUnknownError } from './deploy-lock-unknown-error.ts'
import type { Interval } from './lockdown-times.ts'

/** The times in which no task is accepted, as far as they were computed. */
export type ClosedTimes = { readonly known: Interval; readonly intervals: readonly Interval[] }

/** An end that is not known, or never comes, is null. */
type LockdownPeriod = { readonly from: Date; readonly to: Date | null }

export type DeployLockStatus = {
  readonly active: boolean
  readonly source: 'schedule' | null
  readonly since: Date | null
  readonly until: Date | null
  /** Where the end is known; never 0. */
  readonly retryAfterSeconds: number | undefined
  /** The next lockdown window that has not begun. */
  readonly nextWindow: LockdownPeriod | null
}

const longestDateMs = 8.64e15

/** What holds without any lockdown window. */
export const neverClosed: ClosedTimes = {
  known: { from: new Date(-longestDateMs), to: new Date(longestDateMs) },
  intervals: [],
}

/**
 * Says whether new tasks are refused at an instant of the database's clock.
 *
 * @throws {DeployLockUnknownError} if the instant lies outside of the times that are known
 */
export function judgeDeployLock(at: Date, { known, intervals }: ClosedTimes): DeployLockStatus {
  if (at < known.from || at >= known.to) throw new DeployLockUnknownError(at, known)
  const closed = intervals.find(({ from, to }) => from <= at && at < to)
  const next = intervals.find(({ from }) => from > at)
  const until = closed && closed.to < known.to ? closed.to : null
  return {
    active: closed !== undefined,
    source: closed ? 'schedule' : null,
    since: closed && closed.from > known.from ? closed.from : null,
    until,
    retryAfterSeconds: until ? Math.ceil((until.getTime() - at.getTime()) / 1000) : undefined,
    nextWindow: next ? { from: next.from, to: next.to < known.to ? next.to : null } : null,
  }
}
