import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Versions } from '../../../contract/versions.ts'
import { readJson } from '../ui/read-json.ts'
import { type VersionsFilters, versionsQuery } from './versions-address.ts'

const readAgainMs = 15_000

/** GET /api/v1/versions. No event tells what Argo CD shows, so it is read again. */
export function useVersions(filters: VersionsFilters) {
  const query = versionsQuery(filters)
  return useQuery({
    queryKey: ['versions', query],
    queryFn: ({ signal }) => readJson<Versions>(`/api/v1/versions?${query}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: readAgainMs,
  })
}
