import type { DeployLockDetails } from '../../contract/deploy-lock.ts'
import type { DeployLockStatus } from './evaluate-deploy-lock.ts'
import type { LockdownSchedule } from './lockdown-times.ts'
import { renderWindow } from './lockdown-window.ts'

/** As GET /deploy-lock/details shows it. A scheduled lock has no user and no reason. */
export function renderLockDetails(status: DeployLockStatus, schedule: LockdownSchedule): DeployLockDetails {
  const { active, source, since, until, reason, setBy, nextWindow, overrideUntil } = status
  return {
    active,
    source,
    since: since && epochSeconds(since),
    until: until && epochSeconds(until),
    reason,
    set_by: setBy,
    next_window: nextWindow && {
      from: epochSeconds(nextWindow.from),
      to: nextWindow.to && epochSeconds(nextWindow.to),
    },
    override_until: overrideUntil && epochSeconds(overrideUntil),
    schedule: { windows: schedule.windows.map(renderWindow), time_zone: schedule.timeZone },
  }
}

const epochSeconds = (time: Date) => time.getTime() / 1000
