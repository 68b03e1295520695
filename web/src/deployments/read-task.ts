import { queryOptions, useQuery } from '@tanstack/react-query'
import type { TaskRecord } from '../../../contract/task.ts'
import { isFinal } from '../../../contract/task-status.ts'
import { AnswerError, readJson } from '../ui/read-json.ts'
import { pollEveryMs } from './poll-interval.ts'

/** GET /api/v1/tasks/<id>, again and again until the task is final or there is none of this id. */
export function taskQuery(id: string) {
  return queryOptions<TaskRecord>({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => readJson<TaskRecord>(`/api/v1/tasks/${encodeURIComponent(id)}`, signal),
    refetchInterval: ({ state }) => {
      if (isNotFound(state.error)) return false
      const isEnded = state.data !== undefined && isFinal(state.data.status) && state.status === 'success'
      return isEnded ? false : pollEveryMs(state.status)
    },
  })
}

export const useTask = (id: string) => useQuery(taskQuery(id))

export const isNotFound = (error: Error | null): boolean => error instanceof AnswerError && error.status === 404
