import { useThrottledCallback } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import type { Followed } from '../live/followed-query.ts'
import { useFollowedQuery } from '../live/use-followed-query.ts'
import { useLiveEvents } from '../live/use-live.ts'
import { AnswerError, readJson } from '../ui/read-json.ts'
import { applyToTask } from './apply-events.ts'

/** Events do not tell the diagnosis: it is read after them, so often at most. */
const readAgainMs = 1_000
/** Nor do events tell of Pods that start: while a task runs, it is read so often. */
const readPodsMs = 5_000

/** GET /api/v1/tasks/<id>. */
export const followedTask = (id: string): Followed<TaskRecord> => ({
  queryKey: ['tasks', 'one', id],
  read: (signal) => readJson<TaskRecord>(`/api/v1/tasks/${encodeURIComponent(id)}`, signal),
  apply: applyToTask,
  readAgainMs: (task) => (task?.status === 'in progress' ? readPodsMs : false),
})

/** A task, kept up to date: what events tell at once, what only the answer about it holds right after them. */
export function useTask(id: string) {
  const client = useQueryClient()
  const followed = followedTask(id)
  const readAgain = useThrottledCallback(
    () => void client.refetchQueries({ queryKey: followed.queryKey, exact: true }, { cancelRefetch: true }),
    readAgainMs,
  )
  useLiveEvents('tasks', (events) => {
    const app = client.getQueryData<TaskRecord>(followed.queryKey)?.app
    if (events.some((event) => event.task_id === id || isBesideOf(app, event))) readAgain()
  })
  return useFollowedQuery(followed)
}

/** Of another task of the application: what came after this one has changed. */
const isBesideOf = (app: string | undefined, { kind, task }: TaskEvent): boolean =>
  task !== undefined && task.app === app && (kind === 'accepted' || kind === 'verdict')

export const isNotFound = (error: Error | null): boolean => error instanceof AnswerError && error.status === 404
