import type { CalendarRange, DeployLockCalendar, DeployLockDetails } from '../../contract/deploy-lock.ts'
import {
  type DeployLockStatus,
  evaluateDeployLock,
  type LockdownCalendar,
  neverClosed,
} from './evaluate-deploy-lock.ts'
import { type LockPeriod, renderLockCalendar } from './lock-calendar.ts'
import { closedIntervals, type Interval, type LockdownSchedule } from './lockdown-times.ts'
import { lockedTimes, maxLockChanges } from './locked-times.ts'
import { renderLockDetails } from './render-lock-details.ts'
import type { StoredLock } from './stored-lock.ts'

type Dependencies = {
  readonly schedule: LockdownSchedule
  /** What is stored about the lock, and when that was so by the database's clock. Rejects if it cannot be read. */
  readonly read: () => Promise<{ readonly at: Date; readonly stored: StoredLock }>
  /** What users did that overlaps a range of time, in order. */
  readonly periods: (range: Interval, limit?: number) => Promise<readonly LockPeriod[]>
}

const dayMs = 24 * 60 * 60 * 1000
/** Further than any window reaches, even if a change of the clock swallows its only pause, and than clocks differ. */
const reachDays = 15

/** Gives the times around an instant in which no task is accepted: the same for a whole day, so that a submission computes nothing. */
export function createCalendar(schedule: LockdownSchedule): (around: Date) => LockdownCalendar {
  let computed = { day: Number.NaN, times: neverClosed }
  return (around) => {
    if (schedule.windows.length === 0) return neverClosed
    const day = Math.floor(around.getTime() / dayMs)
    if (day !== computed.day) computed = { day, times: computeCalendar(schedule, day) }
    return computed.times
  }
}

/** Tells whether new tasks are refused, and gives the accepting transaction what it decides by (decision 0003). */
export function createDeployLock({ schedule, read, periods }: Dependencies) {
  const calendarAround = createCalendar(schedule)

  async function status(): Promise<DeployLockStatus> {
    const { at, stored } = await read()
    return evaluateDeployLock(at, calendarAround(at), stored)
  }

  return {
    status,
    isActive: async () => (await status()).active,
    details: async (): Promise<DeployLockDetails> => renderLockDetails(await status(), schedule),
    async calendar(range: CalendarRange): Promise<DeployLockCalendar> {
      const known = await periods({ from: new Date(range.from * 1000), to: new Date(range.to * 1000) })
      return renderLockCalendar(range, schedule, known)
    },
    /** When it was active in a range of the past. */
    lockedTimes: async (range: Interval): Promise<readonly Interval[]> =>
      lockedTimes(range, schedule, await periods(range, maxLockChanges)),
    calendarAround,
  }
}
export type DeployLock = ReturnType<typeof createDeployLock>

function computeCalendar(schedule: LockdownSchedule, day: number): LockdownCalendar {
  const known = { from: new Date((day - reachDays) * dayMs), to: new Date((day + 1 + reachDays) * dayMs) }
  return { known, intervals: closedIntervals(schedule, known.from, known.to) }
}
