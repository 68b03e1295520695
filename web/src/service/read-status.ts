import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ServiceStatus } from '../../../contract/service-status.ts'
import { readJson } from '../ui/read-json.ts'

const readEveryMs = 15_000

/** GET /api/v1/status. */
const statusQuery = queryOptions<ServiceStatus>({
  queryKey: ['status'],
  queryFn: ({ signal }) => readJson<ServiceStatus>('/api/v1/status', signal),
  refetchInterval: readEveryMs,
})

export const useServiceStatus = () => useQuery(statusQuery)

/** It changes with a start of the service only. */
export const useServiceVersion = (): string | undefined =>
  useQuery({ ...statusQuery, refetchInterval: false }).data?.version
