import { useThrottledCallback } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import type { TaskCounts } from '../../../contract/task-counts.ts'
import { useLiveEvents } from '../live/use-live.ts'
import { readJson } from '../ui/read-json.ts'
import { listQuery, type TaskFilters } from './task-filters.ts'

/** Events change the counts: they are read again after some, so often at most. */
const readAgainMs = 5_000

/** GET /api/v1/tasks/counts: tasks of each status that match the other filters. A page is whole without it: null. */
function taskCountsQuery({ status: _, ...filters }: TaskFilters) {
  const query = listQuery(filters)
  return queryOptions<TaskCounts | null>({
    queryKey: ['tasks', 'counts', query],
    queryFn: ({ signal }) => readJson<TaskCounts>(`/api/v1/tasks/counts?${query}`, signal).catch(() => null),
    placeholderData: keepPreviousData,
  })
}

export function useTaskCounts(filters: TaskFilters): TaskCounts | undefined {
  const client = useQueryClient()
  const options = taskCountsQuery(filters)
  const readAgain = useThrottledCallback(
    () => void client.refetchQueries({ queryKey: options.queryKey, exact: true }),
    readAgainMs,
  )
  useLiveEvents('tasks', readAgain)
  return useQuery(options).data ?? undefined
}
