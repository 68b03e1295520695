import { useQueries } from '@tanstack/react-query'
import { use } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { followedTask } from '../deployments/read-task.ts'
import { followedQuery } from '../live/followed-query.ts'
import { Live } from '../live/use-live.ts'

/** Of a row one does not watch as closely as the page of its task. */
const readPodsMs = 10_000

/** What only the answer about one task holds, such as its Pods and whether the version before still serves. */
export function useTaskDetails(ids: readonly string[]): ReadonlyMap<string, TaskRecord> {
  const connection = use(Live)
  const readAgainMs = (task: TaskRecord | undefined) => (task?.status === 'in progress' ? readPodsMs : false)
  const answers = useQueries({
    queries: ids.map((id) => followedQuery(connection, { ...followedTask(id), readAgainMs })),
  })
  return new Map(answers.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const])))
}
