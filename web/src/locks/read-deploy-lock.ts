import { queryOptions, useQuery } from '@tanstack/react-query'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { readJson } from '../ui/read-json.ts'

const readEveryMs = 5_000

/** GET /api/v1/deploy-lock/details. */
export const deployLockQuery = queryOptions<DeployLockDetails>({
  queryKey: ['deploy-lock'],
  queryFn: ({ signal }) => readJson<DeployLockDetails>('/api/v1/deploy-lock/details', signal),
  refetchInterval: readEveryMs,
})

/** The lock as it is now, on every page. */
export const useDeployLock = () => useQuery(deployLockQuery)
