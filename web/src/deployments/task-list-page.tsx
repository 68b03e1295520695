import { useMemo, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import { AddressIssueNotice } from '../ui/address-issue-notice.tsx'
import { withoutIssues } from '../ui/address-issues.ts'
import { focusNext } from '../ui/focus-next.ts'
import { useTab } from '../ui/tab.ts'
import { useToast } from '../ui/toast.tsx'
import { useKeys } from '../ui/use-keys.ts'
import { addressIssues } from './address-issues.ts'
import { ApplicationHeader } from './application-header.tsx'
import { ChangeAnnouncement } from './change-announcement.tsx'
import { countOf } from './count-words.ts'
import { useTaskList } from './list-tasks.ts'
import { useTaskCounts } from './read-counts.ts'
import { TaskFilterForm } from './task-filter-form.tsx'
import { cursorIn, describePage, filtersIn, listAddress, statusesIn, type TaskFilters } from './task-filters.ts'
import { NewTasks, Pages, Rows, useRowsBefore, waitingCount } from './task-list-parts.tsx'
import { secondsTaken } from './verdict-words.ts'

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
  const before = useRowsBefore(cursor)
  const [byTook, setByTook] = useState(false)
  useTab(filters.app ?? 'Deployments', { waiting: waitingCount(waiting) })
  const showNewRows = () => {
    showNew()
    requestAnimationFrame(() => namesIn(page)[0]?.focus())
  }
  useListKeys(page, showNewRows)

  const change = (changed: TaskFilters) =>
    navigate(listAddress({ ...filters, ...changed }), { replace: !('status' in changed) })
  return (
    <>
      <div className="between">
        <h1 tabIndex={-1} className="wrap-any">
          {filters.app ?? 'Deployments'}
        </h1>
        <p className="small dim">
          {rows.length > 0
            ? `${describePage(before, rows.length, countOf(counts, statusesIn(filters.status)))}, ${byTook ? 'longest' : 'newest'} first`
            : null}
        </p>
      </div>
      {filters.app === undefined ? null : <ApplicationHeader app={filters.app} />}
      <AddressIssueNotice issues={issues} cleared={listAddress(filters, cursor)} />
      <TaskFilterForm filters={filters} counts={counts} change={change} />
      <div className="stack" ref={page}>
        <NewTasks waiting={waiting} show={showNewRows} />
        <Rows
          list={list}
          rows={byTook ? rows.toSorted((a, b) => tookOf(b) - tookOf(a)) : rows}
          filters={filters}
          cursor={cursor}
          sort={{ byTook, setByTook }}
        />
        <Pages filters={filters} cursor={cursor} next={list.data?.next_cursor} />
        <ChangeAnnouncement tasks={rows} key={query.toString()} />
      </div>
    </>
  )
}

/** Of one that goes on: so far. */
const tookOf = (task: TaskRecord) => secondsTaken(task, Date.now() / 1000)

const namesIn = (page: { readonly current: HTMLElement | null }) => [
  ...(page.current?.querySelectorAll<HTMLAnchorElement>('a.name') ?? []),
]

/** `j` and `k` walk through the rows, `x` copies the link of one, `r` asks to roll it back, `.` shows what waits. */
function useListKeys(page: { readonly current: HTMLElement | null }, showNew: () => void) {
  const [, navigate] = useLocation()
  const showToast = useToast()
  const newest = useRef(showNew)
  newest.current = showNew
  const keys = useMemo(() => {
    const chosen = () => namesIn(page).find((name) => name.matches(':focus'))
    const copy = (name: HTMLAnchorElement) =>
      void navigator.clipboard.writeText(name.href).then(() => showToast({ text: 'Link copied.' }))
    return {
      j: () => focusNext(namesIn(page), 1),
      k: () => focusNext(namesIn(page), -1),
      x: () => {
        const name = chosen()
        if (name !== undefined) copy(name)
      },
      r: () => {
        const name = chosen()
        if (name !== undefined) navigate(new URL(name.href).pathname, { state: { asks: 'back' } })
      },
      '.': () => newest.current(),
    }
  }, [page, navigate, showToast])
  useKeys(keys)
}
