import { queryOptions, useQuery } from '@tanstack/react-query'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import { readJson } from '../ui/read-json.ts'

const maxFound = '5'
/** The beginning of an id or a commit, as far as it can be told from a name. */
const idLike = /^[0-9a-f][0-9a-f-]{3,63}$/i

/** GET /api/v1/tasks?search=: the newest tasks with this id or commit. */
function foundTasksQuery(search: string) {
  const query = new URLSearchParams({ search, limit: maxFound })
  return queryOptions<TaskList>({
    queryKey: ['tasks', 'found', search],
    queryFn: ({ signal }) => readJson<TaskList>(`/api/v1/tasks?${query}`, signal),
    enabled: idLike.test(search),
  })
}

/** Tasks by id or commit; none for a text that is neither. */
export function useFoundTasks(search: string): { tasks: readonly TaskRecord[]; error: Error | null } {
  const { data, error } = useQuery(foundTasksQuery(search))
  return { tasks: data?.tasks ?? [], error }
}
