import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import type { History } from '../../../contract/history.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import { readAndFollow } from '../live/read-and-follow.ts'
import { Live, useLiveEvents } from '../live/use-live.ts'
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

function todayQuery(connection: LiveConnection, zone: string) {
  const query = historyQueryString({ days: 1 }, zone)
  return queryOptions<History>({
    queryKey: ['history', 'today', query],
    queryFn: ({ signal }) =>
      readAndFollow(connection, () => readJson<History>(`/api/v1/history?${query}`, signal), applyToToday),
    refetchInterval: readTodayMs,
  })
}

/** Today in the zone; events bring what ends, and a new answer the times. */
export function useToday(zone: string) {
  const [connection, client] = [use(Live), useQueryClient()]
  const options = todayQuery(connection, zone)
  useLiveEvents('tasks', (events) =>
    client.setQueryData(options.queryKey, (known) => known && applyToToday(known, events)),
  )
  return useQuery(options)
}
