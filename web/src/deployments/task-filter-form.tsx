import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { TaskCounts } from '../../../contract/task-counts.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import { keepViews, useSavedViews } from '../ui/device-settings.ts'
import { Icon } from '../ui/icon.tsx'
import { exactTime } from '../ui/moment.ts'
import { useTimeZone } from '../ui/time-zone.ts'
import { type CappedCount, countOf, shortCount } from './count-words.ts'
import { CreatedFilter } from './created-filter.tsx'
import { StatusIcon } from './status-mark.tsx'
import { shownStatuses, wordsOf } from './status-words.ts'
import {
  describeFilters,
  filtersIn,
  listAddress,
  listQuery,
  notDeployed,
  statusesIn,
  type TaskFilters,
} from './task-filters.ts'
import { NameFilter, TextFilter } from './text-filters.tsx'

type Props = {
  filters: TaskFilters
  counts: TaskCounts | undefined
  change: (changed: TaskFilters) => void
}

/** Status chips, text filters and times; on a phone all but the chips are behind a button. */
export function TaskFilterForm({ filters, counts, change }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { status, ...others } = filters
  const used = Object.keys(others).length
  return (
    <search>
      <form className="filters" aria-label="Deployments" onSubmit={(event) => event.preventDefault()}>
        <div className="chips">
          <button
            className="btn btn-s only-phone"
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="i-down" className="tiny" />
            Filters{used === 0 ? '' : ` (${used})`}
          </button>
          <StatusChips
            statuses={statusesIn(status)}
            counts={counts}
            change={(chosen) => change({ status: chosen.join(',') })}
          />
        </div>
        <div className={isOpen ? 'line' : 'line hide-phone'}>
          <TextFilter
            label="Search"
            placeholder="Name, tag, author, id or commit"
            className="field wide"
            value={filters.search}
            change={(search) => change({ search })}
          />
          {nameFields.map((name) => (
            <NameFilter
              name={name}
              className="field"
              value={filters[name]}
              change={(value) => change({ [name]: value })}
              key={name}
            />
          ))}
          <CreatedFilter filters={filters} className="field" change={change} />
        </div>
        <OtherFilters filters={filters} />
        <SavedViews filters={filters} />
      </form>
    </search>
  )
}

const nameFields = ['app', 'project', 'author'] as const

type ChipsProps = {
  statuses: readonly TaskStatus[]
  counts: TaskCounts | undefined
  change: (statuses: readonly TaskStatus[]) => void
}

/** Any of them together; "All" takes the others away, and "Not deployed" is what did not end as one wants. */
function StatusChips({ statuses, counts, change }: ChipsProps) {
  const isNotDeployed = statuses.join() === notDeployed.join()
  const toggle = (status: TaskStatus) =>
    change(shownStatuses.filter((one) => statuses.includes(one) !== (one === status)))
  return (
    <fieldset className="choice">
      <legend className="sr">Status</legend>
      <Chip isChosen={statuses.length === 0} count={countOf(counts, [])} change={() => change([])}>
        All
      </Chip>
      <Chip
        isChosen={isNotDeployed}
        count={countOf(counts, notDeployed)}
        change={() => change(isNotDeployed ? [] : notDeployed)}
      >
        Not deployed
      </Chip>
      {shownStatuses.map((status) => {
        const { word, icon, tone } = wordsOf(status)
        return (
          <Chip
            isChosen={statuses.includes(status)}
            count={countOf(counts, [status])}
            change={() => toggle(status)}
            className={`st-${tone}`}
            key={status}
          >
            <StatusIcon icon={icon} />
            {word}
          </Chip>
        )
      })}
    </fieldset>
  )
}

type ChipProps = {
  isChosen: boolean
  count: CappedCount | undefined
  change: () => void
  className?: string
  children: ReactNode
}

const Chip = ({ isChosen, count, change, className, children }: ChipProps) => (
  <label className={className}>
    <input type="checkbox" checked={isChosen} onChange={change} />
    {children}
    <span className="n">{count === undefined ? '' : shortCount(count)}</span>
  </label>
)

/** Filters that this device keeps; each is a link, and one more button keeps the filters of now. */
function SavedViews({ filters }: { filters: TaskFilters }) {
  const views = useSavedViews()
  const query = listQuery(filters)
  if (views.length === 0 && query === '') return null
  return (
    <div className="row small">
      {views.map((view) => (
        <span className="view" key={view}>
          <Link href={`/tasks?${view}`} aria-current={view === query ? 'true' : undefined}>
            {describeFilters(filtersIn(new URLSearchParams(view)))}
          </Link>
          <button
            className="btn btn-plain btn-s icon-btn"
            type="button"
            aria-label={`Forget the view: ${describeFilters(filtersIn(new URLSearchParams(view)))}`}
            onClick={() => keepViews(views.filter((one) => one !== view))}
          >
            <Icon name="i-close" className="tiny" />
          </button>
        </span>
      ))}
      {query === '' || views.includes(query) ? null : (
        <button className="btn btn-plain btn-s" type="button" onClick={() => keepViews([...views, query])}>
          Save this view
        </button>
      )}
    </div>
  )
}

/** Filters that other pages link to: what they ask for, and the way to take each away. */
function OtherFilters({ filters }: { filters: TaskFilters }) {
  const zone = useTimeZone()
  const { cause, environment, ended_from: from, ended_to: to } = filters
  const { ended_from: _from, ended_to: _to, ...anyEnd } = filters
  const { cause: _cause, ...anyCause } = filters
  const { environment: _environment, ...anyEnvironment } = filters
  if (cause === undefined && environment === undefined && from === undefined && to === undefined) return null
  return (
    <div className="row">
      {environment === undefined ? null : (
        <Removable to={listAddress(anyEnvironment)}>Environment {environment}</Removable>
      )}
      {cause === undefined ? null : (
        <Removable to={listAddress(anyCause)}>
          Cause <code>{cause}</code>
        </Removable>
      )}
      {from === undefined && to === undefined ? null : (
        <Removable to={listAddress(anyEnd)}>
          Ended
          {from === undefined ? '' : ` from ${exactTime(Number(from), zone)}`}
          {to === undefined ? '' : ` to ${exactTime(Number(to), zone)}`}
        </Removable>
      )}
    </div>
  )
}

function Removable({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link className="btn btn-s" href={to}>
      <span className="sr">Remove the filter: </span>
      <span>{children}</span>
      <Icon name="i-close" className="tiny" />
    </Link>
  )
}
