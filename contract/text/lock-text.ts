import { oneLine } from '../fields.ts'
import type { LockChange } from '../notify/lock-change.ts'

const maxReasonLength = 200

/**
 * One line: `⏸ Deployments are locked until 2026-12-01 08:00 UTC by ada: database failover`, or
 * `▶ Deployments are no longer locked: released by ada`.
 */
export function lockHeadline(lock: LockChange): string {
  const name = lock.changed_by === null ? '' : ` by ${shortened(lock.changed_by)}`
  if (lock.active) {
    const until = lock.until === null ? '' : ` until ${minuteOf(lock.until)}`
    const reason = lock.reason === null ? '' : `: ${shortened(lock.reason)}`
    return `⏸ Deployments are locked${until}${lock.source === 'schedule' ? ' by the schedule' : name}${reason}`
  }
  const released = name === '' ? '' : `: released${name}`
  if (lock.override_until !== null)
    return `▶ Deployments are possible until ${minuteOf(lock.override_until)}${released}`
  return `▶ Deployments are no longer locked${released}`
}

const shortened = (text: string) => {
  const line = oneLine(text)
  return line.length <= maxReasonLength
    ? line
    : `${line.slice(0, maxReasonLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

const minuteOf = (seconds: number) => `${new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
