import { useDocumentTitle } from '@mantine/hooks'
import { useMemo, useRef } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { focusNext } from '../ui/focus-next.ts'
import { useKeys } from '../ui/use-keys.ts'
import { AddressIssueNotice } from './address-issue-notice.tsx'
import { addressIssues, withoutIssues } from './address-issues.ts'
import { ChangeAnnouncement } from './change-announcement.tsx'
import { useTaskList } from './list-tasks.ts'
import { TaskFilterForm } from './task-filter-form.tsx'
import { describePage, type FilterName, filtersIn, listAddress, offsetIn } from './task-filters.ts'
import { NewTasks, Pages, Rows } from './task-list-parts.tsx'

/** `/tasks`: which tasks match, and how did they end? */
export function TaskListPage() {
  const [address] = useSearchParams()
  const [, navigate] = useLocation()
  const issues = addressIssues(address)
  const query = withoutIssues(address, issues)
  const [filters, offset] = [filtersIn(query), offsetIn(query)]
  const { list, rows, waiting, showNew } = useTaskList(filters, offset)
  const page = useRef<HTMLDivElement>(null)
  useDocumentTitle('Tasks · Deployment Watcher')
  useListKeys(page, showNew)

  const change = (name: FilterName, value: string) =>
    navigate(listAddress({ ...filters, [name]: value }), { replace: name !== 'status' })
  const { data } = list
  return (
    <>
      <div className="between">
        <h1 tabIndex={-1}>Tasks</h1>
        <p className="small dim">
          {data && rows.length > 0
            ? `${describePage(rows.length, offset, data.total, data.total_capped === true)}, newest first`
            : null}
        </p>
      </div>
      <AddressIssueNotice issues={issues} cleared={listAddress(filters, offset)} />
      <TaskFilterForm filters={filters} tasks={rows} change={change} />
      <div className="stack" ref={page}>
        <NewTasks count={waiting} show={showNew} />
        <Rows list={list} rows={rows} filters={filters} offset={offset} />
        <Pages filters={filters} offset={offset} received={data?.tasks.length ?? 0} />
        <ChangeAnnouncement tasks={rows} key={query.toString()} />
      </div>
    </>
  )
}

/** `j` and `k` walk through the names, `.` shows what waits. `/` belongs to the frame: it works on every page. */
function useListKeys(page: { readonly current: HTMLElement | null }, showNew: () => void) {
  const newest = useRef(showNew)
  newest.current = showNew
  const keys = useMemo(() => {
    const names = () => [...(page.current?.querySelectorAll<HTMLElement>('a.name') ?? [])]
    return { j: () => focusNext(names(), 1), k: () => focusNext(names(), -1), '.': () => newest.current() }
  }, [page])
  useKeys(keys)
}
