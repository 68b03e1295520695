import type { DeployLockDetails } from '../../contract/service.ts'
import type { DeployLockStatus } from './judge-deploy-lock.ts'

/** As GET /deploy-lock/details shows it. Nobody sets a schedule and it has no reason but itself. */
export function renderLockDetails({ active, source, since, until, nextWindow }: DeployLockStatus): DeployLockDetails {
  return {
    active,
    source,
    since: since && epochSeconds(since),
    until: until && epochSeconds(until),
    reason: null,
    set_by: null,
    next_window: nextWindow && {
      from: epochSeconds(nextWindow.from),
      to: nextWindow.to && epochSeconds(nextWindow.to),
    },
  }
}

const epochSeconds = (time: Date) => time.getTime() / 1000
