import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { AuditPage } from '../../../contract/audit.ts'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { readJson } from '../ui/read-json.ts'

const pageSize = '10'

/** GET /api/v1/audit of what users did to the lock, newest first, read again whenever the lock changes. */
function lockAuditQuery(lock: DeployLockDetails | undefined) {
  return infiniteQueryOptions({
    queryKey: ['deploy-lock-audit', lock?.source, lock?.since, lock?.reason, lock?.until, lock?.override_until],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ action: 'lock_set,lock_released', limit: pageSize })
      if (pageParam !== null) query.set('before', String(pageParam))
      return readJson<AuditPage>(`/api/v1/audit?${query}`, signal)
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
  })
}

export const useLockAudit = (lock: DeployLockDetails | undefined) => useInfiniteQuery(lockAuditQuery(lock))
