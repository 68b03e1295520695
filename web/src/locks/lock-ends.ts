import type { DeployLockDetails, LockRequest } from '../../../contract/deploy-lock.ts'
import { fromPicker } from '../ui/zoned-time.ts'

/** When a lock ends: after some minutes, with the next lockdown window, at a time of one's own, or by release only. */
export type LockEnd = '30' | '60' | '240' | 'window' | 'time' | 'released'

/** `time` as an input of a date and a time has it, empty where it is not complete. */
export type LockDraft = { readonly reason: string; readonly end: LockEnd; readonly time: string }

export const emptyDraft: LockDraft = { reason: '', end: '60', time: '' }

/** Unix seconds, null for a lock until released; undefined where the draft does not say. */
export function endOfDraft(
  { end, time }: LockDraft,
  lock: Pick<DeployLockDetails, 'next_window'>,
  now: number,
  zone: string,
): number | null | undefined {
  if (end === 'released') return null
  if (end === 'window') return lock.next_window?.from
  if (end !== 'time') return now + Number(end) * 60
  return fromPicker(time, zone)
}

const maxReasonLength = 500

/** The field that the service rejects: it names it in prose only. A reason within its limit leaves the end. */
export const rejectedField = (sent: LockRequest | undefined): 'reason' | 'end' =>
  (sent?.reason ?? '').length > maxReasonLength ? 'reason' : 'end'
