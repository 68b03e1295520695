import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { History } from '../../../contract/history.ts'
import { useFollowedQuery } from '../live/use-followed-query.ts'
import { readJson } from '../ui/read-json.ts'
import { applyToToday } from './apply-to-today.ts'
import { type HistoryFilters, historyQueryString } from './history-filters.ts'

const readTodayMs = 60_000

/** GET /api/v1/history. */
function historyQuery(filters: HistoryFilters, zone: string) {
  const query = historyQueryString(filters, zone)
  return queryOptions<History>({
    queryKey: ['history', query],
    queryFn: ({ signal }) => readJson<History>(`/api/v1/history?${query}`, signal),
    placeholderData: keepPreviousData,
    staleTime: readTodayMs,
  })
}

export const useHistory = (filters: HistoryFilters, zone: string) => useQuery(historyQuery(filters, zone))

/** Today in the zone; events bring what ends, and a new answer the times. */
export function useToday(zone: string) {
  const query = historyQueryString({ days: 1 }, zone)
  return useFollowedQuery<History>({
    queryKey: ['history', 'today', query],
    read: (signal) => readJson<History>(`/api/v1/history?${query}`, signal),
    apply: applyToToday,
    readAgainMs: readTodayMs,
  })
}
