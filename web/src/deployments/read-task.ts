import { useThrottledCallback } from '@mantine/hooks'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import { readAndFollow } from '../live/read-and-follow.ts'
import { Live, useLiveEvents } from '../live/use-live.ts'
import { AnswerError, readJson } from '../ui/read-json.ts'
import { applyToTask } from './apply-events.ts'

/** Events do not tell the diagnosis: it is read after them, so often at most. */
const readAgainMs = 1_000
/** Nor do events tell of Pods that start: while a task runs, it is read so often. */
const readPodsMs = 5_000

/** GET /api/v1/tasks/<id>. */
export function taskQuery(connection: LiveConnection, id: string) {
  return queryOptions<TaskRecord>({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) =>
      readAndFollow(
        connection,
        () => readJson<TaskRecord>(`/api/v1/tasks/${encodeURIComponent(id)}`, signal),
        applyToTask,
      ),
    refetchInterval: ({ state }) => (state.data?.status === 'in progress' ? readPodsMs : false),
  })
}

/** A task, kept up to date: what events tell at once, what only the answer about it holds right after them. */
export function useTask(id: string) {
  const [connection, client] = [use(Live), useQueryClient()]
  const options = taskQuery(connection, id)
  const readAgain = useThrottledCallback(
    () => void client.refetchQueries({ queryKey: options.queryKey, exact: true }, { cancelRefetch: true }),
    readAgainMs,
  )
  useLiveEvents('tasks', (events) => {
    const own = events.filter(({ task_id }) => task_id === id)
    if (own.length === 0) return
    client.setQueryData(options.queryKey, (task) => task && applyToTask(task, own))
    readAgain()
  })
  return useQuery(options)
}

export const isNotFound = (error: Error | null): boolean => error instanceof AnswerError && error.status === 404
