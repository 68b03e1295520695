import { useDocumentTitle } from '@mantine/hooks'
import { useMemo, useRef } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { AddressIssueNotice } from '../ui/address-issue-notice.tsx'
import { withoutIssues } from '../ui/address-issues.ts'
import { focusNext } from '../ui/focus-next.ts'
import { useKeys } from '../ui/use-keys.ts'
import { addressIssues } from './address-issues.ts'
import { ChangeAnnouncement } from './change-announcement.tsx'
import { countOf } from './count-words.ts'
import { useTaskList } from './list-tasks.ts'
import { useTaskCounts } from './read-counts.ts'
import { TaskFilterForm } from './task-filter-form.tsx'
import { cursorIn, describePage, filtersIn, listAddress, type TaskFilters } from './task-filters.ts'
import { NewTasks, Pages, Rows } from './task-list-parts.tsx'

/** `/tasks`: which tasks match, and how did they end? */
export function TaskListPage() {
  const [address] = useSearchParams()
  const [, navigate] = useLocation()
  const issues = addressIssues(address)
  const query = withoutIssues(address, issues)
  const [filters, cursor] = [filtersIn(query), cursorIn(query)]
  const { list, rows, waiting, showNew } = useTaskList(filters, cursor)
  const counts = useTaskCounts(filters)
  const page = useRef<HTMLDivElement>(null)
  useDocumentTitle('Tasks · Deployment Watcher')
  useListKeys(page, showNew)

  const change = (changed: TaskFilters) =>
    navigate(listAddress({ ...filters, ...changed }), { replace: !('status' in changed) })
  return (
    <>
      <div className="between">
        <h1 tabIndex={-1}>Tasks</h1>
        <p className="small dim">
          {rows.length > 0 ? `${describePage(rows.length, countOf(counts, filters.status))}, newest first` : null}
        </p>
      </div>
      <AddressIssueNotice issues={issues} cleared={listAddress(filters, cursor)} />
      <TaskFilterForm filters={filters} counts={counts} change={change} />
      <div className="stack" ref={page}>
        <NewTasks count={waiting} show={showNew} />
        <Rows list={list} rows={rows} filters={filters} cursor={cursor} />
        <Pages filters={filters} cursor={cursor} next={list.data?.next_cursor} />
        <ChangeAnnouncement tasks={rows} key={query.toString()} />
      </div>
    </>
  )
}

/** `j` and `k` walk through the names, `.` shows what waits. */
function useListKeys(page: { readonly current: HTMLElement | null }, showNew: () => void) {
  const newest = useRef(showNew)
  newest.current = showNew
  const keys = useMemo(() => {
    const names = () => [...(page.current?.querySelectorAll<HTMLElement>('a.name') ?? [])]
    return { j: () => focusNext(names(), 1), k: () => focusNext(names(), -1), '.': () => newest.current() }
  }, [page])
  useKeys(keys)
}
