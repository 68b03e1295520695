import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { use, useState } from 'react'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import { readAndFollow } from '../live/read-and-follow.ts'
import { Live, useLiveEvents } from '../live/use-live.ts'
import { readJson } from '../ui/read-json.ts'
import { applyToList, applyToTask } from './apply-events.ts'
import { keepRowOrder } from './keep-places.ts'
import { taskQuery } from './read-task.ts'
import { listQuery, pageSize, type TaskFilters } from './task-filters.ts'

/** GET /api/v1/tasks: one page of the list, newest first. */
function taskListQuery(connection: LiveConnection, filters: TaskFilters, offset: number) {
  const query = new URLSearchParams(listQuery(filters, offset))
  query.set('limit', String(pageSize))
  return queryOptions<TaskList>({
    queryKey: ['tasks', 'list', query.toString()],
    queryFn: ({ signal }) =>
      readAndFollow(
        connection,
        () => readJson<TaskList>(`/api/v1/tasks?${query}`, signal),
        (list, events) => applyToList(list, events, filters, offset === 0),
      ),
  })
}

/**
 * A page of the list, kept up to date by events, whose rows stay in their places: what is new waits until `showNew` is
 * called. A row that the answers no longer hold is read by itself until it is final.
 */
export function useTaskList(filters: TaskFilters, offset: number) {
  const [connection, client] = [use(Live), useQueryClient()]
  const options = taskListQuery(connection, filters, offset)
  const list = useQuery(options)
  const page = listQuery(filters, offset)
  const [shown, setShown] = useState<{ page: string; tasks: readonly TaskRecord[] }>({ page: '', tasks: [] })
  const latest = list.data?.tasks
  const isSamePage = shown.page === page && shown.tasks.length > 0
  const kept = keepRowOrder(isSamePage ? shown.tasks : (latest ?? []), latest ?? [])
  const lost = useQueries({ queries: kept.lost.map((id) => taskQuery(connection, id)) })
  const found = new Map(lost.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const])))
  const rows = kept.rows.map((task) => found.get(task.id) ?? task)

  const remembered = isSamePage && rows.every((task, index) => task === shown.tasks[index])
  if (latest !== undefined && latest.length > 0 && !remembered) setShown({ page, tasks: rows })
  useLiveEvents('tasks', (events) => {
    client.setQueryData(options.queryKey, (known) => known && applyToList(known, events, filters, offset === 0))
    for (const id of kept.lost)
      client.setQueryData(taskQuery(connection, id).queryKey, (task) => task && applyToTask(task, events))
  })
  return {
    list,
    rows,
    waiting: offset === 0 ? kept.waiting.length : 0,
    showNew: () => setShown({ page, tasks: latest ?? [] }),
  }
}
