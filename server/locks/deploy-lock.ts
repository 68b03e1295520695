import {
  type DeployLockStatus,
  evaluateDeployLock,
  type LockdownCalendar,
  neverClosed,
} from './evaluate-deploy-lock.ts'
import { closedIntervals, type LockdownSchedule } from './lockdown-times.ts'
import type { StoredLock } from './stored-lock.ts'

type Dependencies = {
  readonly schedule: LockdownSchedule
  /** What is stored about the lock, and when that was so by the database's clock. Rejects if it cannot be read. */
  readonly read: () => Promise<{ readonly at: Date; readonly stored: StoredLock }>
}

const dayMs = 24 * 60 * 60 * 1000
/** Further than any window reaches, even if a change of the clock swallows its only pause, and than clocks differ. */
const reachDays = 15

/** Tells whether new tasks are refused, and gives the accepting transaction what it decides by (decision 0003). */
export function createDeployLock({ schedule, read }: Dependencies) {
  let computed = { day: Number.NaN, times: neverClosed }

  /** The same for a whole day, so that a submission costs no computation. */
  function closedTimes(around: Date): LockdownCalendar {
    if (schedule.windows.length === 0) return neverClosed
    const day = Math.floor(around.getTime() / dayMs)
    if (day !== computed.day) computed = { day, times: closedTimesAround(schedule, day) }
    return computed.times
  }

  async function status(): Promise<DeployLockStatus> {
    const { at, stored } = await read()
    return evaluateDeployLock(at, closedTimes(at), stored)
  }

  return { status, isActive: async () => (await status()).active, closedTimes }
}
export type DeployLock = ReturnType<typeof createDeployLock>

function closedTimesAround(schedule: LockdownSchedule, day: number): LockdownCalendar {
  const known = { from: new Date((day - reachDays) * dayMs), to: new Date((day + 1 + reachDays) * dayMs) }
  return { known, intervals: closedIntervals(schedule, known.from, known.to) }
}
