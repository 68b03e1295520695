import type { DeployLockInterval } from '../../../contract/deploy-lock.ts'

/** `at` in Unix seconds. */
export type LockChange = { readonly at: number; readonly isLocked: boolean }

/** What the lock does after `now`, as far as the intervals reach; each change turns it over. */
export function nextChanges(intervals: readonly DeployLockInterval[], now: number): readonly LockChange[] {
  const ends = intervals.map(({ to }) => to).filter((to) => to !== null)
  const moments = [...new Set([...intervals.map(({ from }) => from), ...ends])].filter((at) => at > now)
  const changes: LockChange[] = []
  let was = isLockedAt(intervals, now)
  for (const at of moments.sort((one, other) => one - other)) {
    const isLocked = isLockedAt(intervals, at)
    if (isLocked !== was) changes.push({ at, isLocked })
    was = isLocked
  }
  return changes
}

/** A time for which deployments are locked, in Unix seconds. */
export type LockedRange = { readonly from: number; readonly to: number }

/** When deployments are locked between two moments. */
export function lockedRanges(
  intervals: readonly DeployLockInterval[],
  from: number,
  to: number,
): readonly LockedRange[] {
  const changes = [{ at: from, isLocked: isLockedAt(intervals, from) }, ...nextChanges(intervals, from)]
  return changes
    .map(({ at, isLocked }, index) => ({ isLocked, from: at, to: Math.min(changes[index + 1]?.at ?? to, to) }))
    .filter((range) => range.isLocked && range.from < range.to)
    .map((range) => ({ from: range.from, to: range.to }))
}

/** A manual lock outranks a time for which a window was opened, and that outranks the window. */
function isLockedAt(intervals: readonly DeployLockInterval[], at: number): boolean {
  const kinds = intervals.filter(({ from, to }) => from <= at && (to === null || at < to)).map(({ kind }) => kind)
  return kinds.includes('manual') || (kinds.includes('scheduled') && !kinds.includes('opened'))
}
