import { useQueries, useQueryClient } from '@tanstack/react-query'
import { use, useState } from 'react'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import { type Followed, followedQuery } from '../live/followed-query.ts'
import { useFollowedQuery } from '../live/use-followed-query.ts'
import { Live, useLiveEvents } from '../live/use-live.ts'
import { readJson } from '../ui/read-json.ts'
import { applyToList, applyToTask, maxRows } from './apply-events.ts'
import { keepRowOrder } from './keep-row-order.ts'
import { followedTask } from './read-task.ts'
import { listQuery, pageSize, type TaskFilters } from './task-filters.ts'

type Page = { readonly filters: TaskFilters; readonly cursor?: string | undefined; readonly limit?: number }

/** GET /api/v1/tasks: one page of the list, newest first. */
function followedList({ filters, cursor, limit = pageSize }: Page): Followed<TaskList> {
  const query = new URLSearchParams(listQuery(filters, cursor))
  query.set('limit', String(limit))
  return {
    queryKey: ['tasks', 'list', query.toString()],
    read: (signal) => readJson<TaskList>(`/api/v1/tasks?${query}`, signal),
    apply: (list, events) => applyToList(list, events, filters, cursor === undefined),
  }
}

/** Tasks that have ended stay in an answer until the next one. */
const readRolloutsMs = 60_000

/**
 * A page of the list, kept up to date by events, whose rows stay in their places: what is new waits until `showNew` is
 * called. A row that the answers no longer hold is read by itself until it is final.
 */
export function useTaskList(filters: TaskFilters, cursor: string | undefined) {
  const [connection, client] = [use(Live), useQueryClient()]
  const list = useFollowedQuery(followedList({ filters, cursor }))
  const page = listQuery(filters, cursor)
  const [shown, setShown] = useState<{ page: string; tasks: readonly TaskRecord[] }>({ page: '', tasks: [] })
  const latest = list.data?.tasks
  const isSamePage = shown.page === page && shown.tasks.length > 0
  const kept = keepRowOrder(isSamePage ? shown.tasks : (latest ?? []), latest ?? [])
  const lost = useQueries({ queries: kept.lost.map((id) => followedQuery(connection, followedTask(id))) })
  const found = new Map(lost.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const])))
  const rows = kept.rows.map((task) => found.get(task.id) ?? task)

  const remembered = isSamePage && rows.every((task, index) => task === shown.tasks[index])
  if (latest !== undefined && latest.length > 0 && !remembered) setShown({ page, tasks: rows })
  useLiveEvents('tasks', (events) => {
    for (const id of kept.lost)
      client.setQueryData<TaskRecord>(followedTask(id).queryKey, (task) => task && applyToTask(task, events))
  })
  return {
    list,
    rows,
    waiting:
      cursor === undefined
        ? { count: kept.waiting.length, isCapped: kept.waiting.length > 0 && (latest?.length ?? 0) >= maxRows }
        : { count: 0, isCapped: false },
    showNew: () => setShown({ page, tasks: latest ?? [] }),
  }
}

/** The newest task that matches; undefined while it is not known, and where there is none. */
export const useNewest = (filters: TaskFilters): TaskRecord | undefined =>
  useFollowedQuery(followedList({ filters, limit: 1 })).data?.tasks[0]

const maxRollouts = 200
const rolloutFilters: TaskFilters = { status: 'in progress' }

/** The newest tasks in progress, kept up to date by events, and those that have ended since they were read. */
export function useRollouts() {
  const list = followedList({ filters: rolloutFilters, limit: maxRollouts })
  const { data, error, refetch } = useFollowedQuery({ ...list, readAgainMs: readRolloutsMs })
  const tasks = data?.tasks ?? []
  return {
    isRead: data !== undefined,
    error,
    refetch,
    inProgress: tasks.filter(({ status }) => status === 'in progress'),
    ended: tasks.filter(({ status }) => status !== 'in progress'),
    hasMore: data?.next_cursor !== undefined,
  }
}
