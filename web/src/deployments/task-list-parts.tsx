import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import { Icon } from '../ui/icon.tsx'
import { LoadingRows } from '../ui/loading-rows.tsx'
import { ReadFailure } from '../ui/read-failure.tsx'
import { NoDeploymentYet, NoMatch } from './no-tasks.tsx'
import { listAddress, pageSize, type TaskFilters } from './task-filters.ts'
import { TaskTable } from './task-table.tsx'

type Place = { filters: TaskFilters; offset: number }
type RowsProps = Place & { list: UseQueryResult<TaskList>; rows: readonly TaskRecord[] }

/** The table, or why there is none. */
export function Rows({ list, rows, filters, offset }: RowsProps) {
  if (rows.length > 0) return <TaskTable tasks={rows} />
  if (list.data !== undefined) {
    const isWholeList = offset === 0 && Object.keys(filters).length === 0
    return isWholeList ? <NoDeploymentYet /> : <NoMatch filters={filters} offset={offset} />
  }
  if (list.error === null) return <LoadingRows label="Loading tasks" />
  return (
    <>
      <ReadFailure what="The tasks" error={list.error} retry={() => void list.refetch()} />
      {Object.keys(filters).length === 0 ? null : (
        <p>
          <Link href="/tasks">Clear all filters</Link>
        </p>
      )}
    </>
  )
}

/** What came since: it waits until the reader asks for it. */
export function NewTasks({ count, show }: { count: number; show: () => void }) {
  if (count === 0) return null
  return (
    <button className="new-pill" type="button" onClick={show}>
      <Icon name="i-up" />
      {`${count} new task${count === 1 ? '' : 's'}`}
    </button>
  )
}

export function Pages({ filters, offset, received }: Place & { received: number }) {
  if (offset === 0 && received < pageSize) return null
  return (
    <nav className="between" aria-label="Pages">
      <span className="small dim">Rows keep their place while you read.</span>
      <span className="row">
        <Step name="Newer" to={offset > 0 ? listAddress(filters, Math.max(0, offset - pageSize)) : undefined} />
        <Step name="Older" to={received < pageSize ? undefined : listAddress(filters, offset + pageSize)} />
      </span>
    </nav>
  )
}

function Step({ name, to }: { name: string; to: string | undefined }) {
  if (to !== undefined) {
    return (
      <Link className="btn btn-s" href={to}>
        {name}
      </Link>
    )
  }
  return (
    <button className="btn btn-s" type="button" aria-disabled="true">
      {name}
    </button>
  )
}
