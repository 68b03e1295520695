import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { DeployLockCalendar, DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { readJson } from '../ui/read-json.ts'

/** GET /api/v1/deploy-lock/calendar, read again whenever the lock changes. Times in Unix seconds. */
function lockCalendarQuery(from: number, to: number, lock: DeployLockDetails | undefined) {
  return queryOptions<DeployLockCalendar>({
    queryKey: ['deploy-lock-calendar', from, to, lock?.source, lock?.since, lock?.until, lock?.override_until],
    queryFn: ({ signal }) =>
      readJson<DeployLockCalendar>(
        `/api/v1/deploy-lock/calendar?${new URLSearchParams({ from: `${from}`, to: `${to}` })}`,
        signal,
      ),
    enabled: lock !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}

export const useLockCalendar = (from: number, to: number, lock: DeployLockDetails | undefined) =>
  useQuery(lockCalendarQuery(from, to, lock))

const minuteSeconds = 60

/** Whether releasing the lock would open a lockdown window rather than end a manual lock; undefined while not known. */
export function useIsInsideWindow(lock: DeployLockDetails | undefined, now: number): boolean | undefined {
  const isManual = lock?.active === true && lock.source === 'manual'
  const minute = Math.floor(now / minuteSeconds) * minuteSeconds
  const { data } = useLockCalendar(minute, minute + minuteSeconds, isManual ? lock : undefined)
  if (!isManual) return lock?.active
  return data?.intervals.some(({ kind, from, to }) => kind === 'scheduled' && from <= now && (to === null || now < to))
}
