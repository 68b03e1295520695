import type { SyncWindows } from '../../rollout/observed/observed-resources.ts'
import { listAt, textAt } from './untrusted-json.ts'

/**
 * Reads the answer of `syncwindows`. Its `canSync` speaks of manual syncs; automated ones are blocked by any active `deny`
 * window, or by `allow` windows of which none is active.
 */
export function parseSyncWindows(raw: unknown): SyncWindows {
  const active = listAt(raw, 'activeWindows')
  const assigned = listAt(raw, 'assignedWindows')
  const denying = active.find((window) => textAt(window, 'kind') === 'deny')
  if (denying !== undefined) return { blockedBy: `a deny window is active (${describeWindow(denying)})` }
  const allowing = assigned.find((window) => textAt(window, 'kind') === 'allow')
  const isAllowed = active.some((window) => textAt(window, 'kind') === 'allow')
  if (allowing === undefined || isAllowed) return { blockedBy: undefined }
  return { blockedBy: `no allow window is active (next: ${describeWindow(allowing)})` }
}

function describeWindow(window: unknown): string {
  return `${textAt(window, 'schedule') ?? 'no schedule'} for ${textAt(window, 'duration') ?? '?'}`
}
