import type { CalendarRange, DeployLockCalendar, DeployLockInterval } from '../../contract/deploy-lock.ts'
import { closedIntervals, type LockdownSchedule } from './lockdown-times.ts'

/** A time that a user has locked, or opened a lockdown window for. */
export type LockPeriod = {
  readonly kind: 'manual' | 'opened'
  readonly from: Date
  /** null: until released. */
  readonly to: Date | null
  readonly reason: string | null
  readonly setBy: string | null
}

/** Longer than any lockdown window, so that those at the edges of the range are whole. */
const marginMs = 8 * 24 * 60 * 60 * 1000
/** Also what is read of the periods. */
export const maxIntervals = 1_000

/** When deployments are and were locked in a range of time: by the schedule as it is now, and by what users did. */
export function renderLockCalendar(
  range: CalendarRange,
  schedule: LockdownSchedule,
  periods: readonly LockPeriod[],
): DeployLockCalendar {
  const [from, to] = [range.from * 1000, range.to * 1000]
  const scheduled = closedIntervals(schedule, new Date(from - marginMs), new Date(to + marginMs))
    .filter((window) => window.from.getTime() < to && window.to.getTime() > from)
    .map((window) => ({ ...window, kind: 'scheduled', reason: null, setBy: null }) as const)
  const all = [...scheduled, ...periods].toSorted((one, other) => one.from.getTime() - other.from.getTime())
  const isCapped = all.length > maxIntervals
  return { ...range, intervals: all.slice(0, maxIntervals).map(intervalOf), ...(isCapped ? { capped: true } : {}) }
}

const intervalOf = ({
  kind,
  from,
  to,
  reason,
  setBy,
}: Omit<LockPeriod, 'kind'> & Pick<DeployLockInterval, 'kind'>) => ({
  kind,
  from: from.getTime() / 1000,
  to: to && to.getTime() / 1000,
  reason,
  set_by: setBy,
})
