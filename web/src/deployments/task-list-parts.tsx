import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import { Icon } from '../ui/icon.tsx'
import { LoadingRows } from '../ui/loading-rows.tsx'
import { ReadFailure } from '../ui/read-failure.tsx'
import { NoDeploymentYet, NoMatch } from './no-tasks.tsx'
import { listAddress, type TaskFilters } from './task-filters.ts'
import { TaskTable } from './task-table.tsx'

type Place = { filters: TaskFilters; cursor: string | undefined }
type RowsProps = Place & { list: UseQueryResult<TaskList>; rows: readonly TaskRecord[] }

/** The table, or why there is none. */
export function Rows({ list, rows, filters, cursor }: RowsProps) {
  if (rows.length > 0) return <TaskTable tasks={rows} />
  if (list.data !== undefined) {
    const isWholeList = cursor === undefined && Object.keys(filters).length === 0
    return isWholeList ? <NoDeploymentYet /> : <NoMatch filters={filters} cursor={cursor} />
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

/** A cursor leads to older tasks only, so each page remembers the newer ones that led to it, the nearest first. */
type CameFrom = { readonly newer?: readonly string[] } | null

export function Pages({ filters, cursor, next }: Place & { next: string | undefined }) {
  const newer = useHistoryState<CameFrom>()?.newer ?? []
  if (cursor === undefined && next === undefined) return null
  const [nearest = listAddress(filters), ...others] = newer
  const older = next === undefined ? undefined : listAddress(filters, next)
  return (
    <nav className="between" aria-label="Pages">
      <span className="small dim">Rows keep their place while you read.</span>
      <span className="row">
        <Step
          name={cursor !== undefined && newer.length === 0 ? 'Newest' : 'Newer'}
          to={cursor === undefined ? undefined : nearest}
          newer={others}
        />
        <Step name="Older" to={older} newer={[listAddress(filters, cursor), ...newer]} />
      </span>
    </nav>
  )
}

function Step({ name, to, newer }: { name: string; to: string | undefined; newer: readonly string[] }) {
  if (to !== undefined) {
    return (
      <Link className="btn btn-s" href={to} state={{ newer }}>
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
