import type { DeployLockDetails } from '../../contract/deploy-lock.ts'
import type { DeployLockStatus } from './evaluate-deploy-lock.ts'

/** As GET /deploy-lock/details shows it. Nobody sets a schedule and it has no reason but itself. */
export function renderLockDetails(status: DeployLockStatus): DeployLockDetails {
  const { active, source, since, until, reason, setBy, nextWindow } = status
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
  }
}

const epochSeconds = (time: Date) => time.getTime() / 1000
