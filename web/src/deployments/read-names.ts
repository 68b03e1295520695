import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { NameField, TaskNames } from '../../../contract/task-names.ts'
import { readJson } from '../ui/read-json.ts'

/** GET /api/v1/tasks/names: names that tasks have, up to 20. A page is whole without them: none. */
function taskNamesQuery(field: NameField, search: string, enabled: boolean) {
  const query = new URLSearchParams({ field, search })
  return queryOptions<TaskNames>({
    queryKey: ['tasks', 'names', query.toString()],
    queryFn: ({ signal }) =>
      readJson<TaskNames>(`/api/v1/tasks/names?${query}`, signal).catch(() => ({ names: [], has_more: false })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    enabled,
  })
}

/** @param enabled whether anybody asks for them yet */
export const useTaskNames = (field: NameField, search: string, enabled = true): readonly string[] =>
  useQuery(taskNamesQuery(field, search.slice(0, 255), enabled)).data?.names ?? []
