import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import { readJson } from '../ui/read-json.ts'
import { keepRowOrder } from './keep-places.ts'
import { pollEveryMs } from './poll-interval.ts'
import { taskQuery } from './read-task.ts'
import { listQuery, pageSize, type TaskFilters } from './task-filters.ts'

/** GET /api/v1/tasks: one page of the list, newest first, read again every 2 s. */
function taskListQuery(filters: TaskFilters, offset: number) {
  const query = new URLSearchParams(listQuery(filters, offset))
  query.set('limit', String(pageSize))
  return queryOptions<TaskList>({
    queryKey: ['tasks', 'list', query.toString()],
    queryFn: ({ signal }) => readJson<TaskList>(`/api/v1/tasks?${query}`, signal),
    refetchInterval: ({ state }) => pollEveryMs(state.status),
  })
}

/**
 * A page of the list whose rows stay in their places: what is new waits until `showNew` is called.
 * A row that the answers no longer hold is read by itself until it is final.
 */
export function useTaskList(filters: TaskFilters, offset: number) {
  const list = useQuery(taskListQuery(filters, offset))
  const page = listQuery(filters, offset)
  const [shown, setShown] = useState<{ page: string; tasks: readonly TaskRecord[] }>({ page: '', tasks: [] })
  const latest = list.data?.tasks
  const isSamePage = shown.page === page && shown.tasks.length > 0
  const kept = keepRowOrder(isSamePage ? shown.tasks : (latest ?? []), latest ?? [])
  const lost = useQueries({ queries: kept.lost.map(taskQuery) })
  const found = new Map(lost.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const])))
  const rows = kept.rows.map((task) => found.get(task.id) ?? task)

  const remembered = isSamePage && rows.every((task, index) => task === shown.tasks[index])
  if (latest !== undefined && latest.length > 0 && !remembered) setShown({ page, tasks: rows })
  return {
    list,
    rows,
    waiting: offset === 0 ? kept.waiting.length : 0,
    showNew: () => setShown({ page, tasks: latest ?? [] }),
  }
}
