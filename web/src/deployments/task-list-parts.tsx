import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import type { TaskList, TaskRecord } from '../../../contract/task.ts'
import { Answered } from '../ui/answered.tsx'
import { Icon } from '../ui/icon.tsx'
import type { CappedCount } from './count-words.ts'
import { FirstSteps } from './first-steps.tsx'
import { NoMatch } from './no-tasks.tsx'
import { listAddress, pageSize, type TaskFilters } from './task-filters.ts'
import { type SortByTook, TaskTable } from './task-table.tsx'

type Place = { filters: TaskFilters; cursor: string | undefined }
type RowsProps = Place & { list: UseQueryResult<TaskList>; rows: readonly TaskRecord[]; sort: SortByTook }

/** The table, or why there is none. */
export function Rows({ list, rows, filters, cursor, sort }: RowsProps) {
  if (rows.length > 0) return <TaskTable tasks={rows} sort={sort} />
  const isNarrowed = Object.keys(filters).length > 0
  return (
    <>
      <Answered query={list} what="the deployments">
        {() => (cursor === undefined && !isNarrowed ? <FirstSteps /> : <NoMatch filters={filters} cursor={cursor} />)}
      </Answered>
      {list.data === undefined && list.error !== null && isNarrowed ? (
        <p>
          <Link href="/tasks">Clear all filters</Link>
        </p>
      ) : null}
    </>
  )
}

/** "3", "199+" where more came than the page keeps, or nothing. */
export const waitingCount = ({ count, isCapped }: CappedCount): string =>
  count === 0 ? '' : `${count}${isCapped ? '+' : ''}`

/** What came since: it waits until the reader asks for it. */
export function NewTasks({ waiting, show }: { waiting: CappedCount; show: () => void }) {
  if (waiting.count === 0) return null
  return (
    <button className="new-pill" type="button" onClick={show}>
      <Icon name="i-up" />
      {`${waitingCount(waiting)} new deployment${waiting.count === 1 ? '' : 's'}`}
    </button>
  )
}

/** A cursor leads to older tasks only, so each page remembers the newer ones that led to it, the nearest first. */
type CameFrom = { readonly newer?: readonly string[] } | null

/** How many rows came before this page; undefined where the address does not tell. */
export function useRowsBefore(cursor: string | undefined): number | undefined {
  const newer = useHistoryState<CameFrom>()?.newer
  if (cursor === undefined) return 0
  return newer === undefined || newer.length === 0 ? undefined : newer.length * pageSize
}

export function Pages({ filters, cursor, next }: Place & { next: string | undefined }) {
  const newer = useHistoryState<CameFrom>()?.newer ?? []
  if (cursor === undefined && next === undefined) return null
  const [nearest = listAddress(filters), ...others] = newer
  const older = next === undefined ? undefined : listAddress(filters, next)
  return (
    <nav className="between" aria-label="Pages">
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

/** A link that leads nowhere yet, or no more, stays one: it may hold the focus. */
function Step({ name, to, newer }: { name: string; to: string | undefined; newer: readonly string[] }) {
  return (
    <Link
      className="btn btn-s"
      href={to ?? ''}
      state={{ newer }}
      aria-disabled={to === undefined}
      onClick={(event) => to === undefined && event.preventDefault()}
    >
      {name}
    </Link>
  )
}
