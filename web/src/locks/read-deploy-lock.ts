import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { useLiveEvents } from '../live/use-live.ts'
import { readJson } from '../ui/read-json.ts'

/** GET /api/v1/deploy-lock/details. */
export const deployLockQuery = queryOptions<DeployLockDetails>({
  queryKey: ['deploy-lock'],
  queryFn: ({ signal }) => readJson<DeployLockDetails>('/api/v1/deploy-lock/details', signal),
})

/** The lock as it is now, on every page. */
export const useDeployLock = () => useQuery(deployLockQuery)

/** Takes the lock from the event stream; an answer under way may be older. */
export function useLiveDeployLock(): void {
  const client = useQueryClient()
  useLiveEvents('lock', (lock) => {
    void client.cancelQueries({ queryKey: deployLockQuery.queryKey })
    client.setQueryData(deployLockQuery.queryKey, lock)
  })
}
