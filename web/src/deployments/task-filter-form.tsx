import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { TaskCounts } from '../../../contract/task-counts.ts'
import { Icon } from '../ui/icon.tsx'
import { exactTime } from '../ui/moment.ts'
import { useTimeZone } from '../ui/time-zone.ts'
import { countOf, shortCount } from './count-words.ts'
import { CreatedFilter } from './created-filter.tsx'
import { StatusIcon } from './status-mark.tsx'
import { shownStatuses, wordsOf } from './status-words.ts'
import { listAddress, type TaskFilters } from './task-filters.ts'
import { NameFilter, TextFilter } from './text-filters.tsx'

type Props = {
  filters: TaskFilters
  counts: TaskCounts | undefined
  change: (changed: TaskFilters) => void
}

/** Status chips, text filters and times. */
export function TaskFilterForm({ filters, counts, change }: Props) {
  const [more, setMore] = useState(filters.author !== undefined || filters.from_timestamp !== undefined)
  const onPhone = more ? 'field' : 'field hide-phone'
  return (
    <search>
      <form className="filters" aria-label="Tasks" onSubmit={(event) => event.preventDefault()}>
        <StatusChips status={filters.status} counts={counts} change={(status) => change({ status })} />
        <div className="line">
          <TextFilter
            label="Search"
            placeholder="Name, tag, author, id or commit"
            className="field wide"
            value={filters.search}
            change={(search) => change({ search })}
          />
          <NameFilter name="app" className="field" value={filters.app} change={(app) => change({ app })} />
          <NameFilter
            name="project"
            className="field"
            value={filters.project}
            change={(project) => change({ project })}
          />
          <NameFilter
            name="author"
            className={onPhone}
            value={filters.author}
            change={(author) => change({ author })}
          />
          <CreatedFilter filters={filters} className={onPhone} change={change} />
          <button className="btn only-phone" type="button" aria-expanded={more} onClick={() => setMore(!more)}>
            <Icon name="i-down" className="tiny" />
            {more ? 'Fewer filters' : 'More filters'}
          </button>
        </div>
        <OtherFilters filters={filters} />
      </form>
    </search>
  )
}

type ChipsProps = { status: string | undefined; counts: TaskCounts | undefined; change: (status: string) => void }

function StatusChips({ status, counts, change }: ChipsProps) {
  const chip = (value: string, words: ReactNode, count: ReturnType<typeof countOf>, className?: string) => (
    <label key={value} className={className}>
      <input
        type="radio"
        name="status"
        value={value}
        checked={(status ?? '') === value}
        onChange={() => change(value)}
      />
      {words}
      <span className="n">{count === undefined ? '' : shortCount(count)}</span>
    </label>
  )
  return (
    <fieldset className="choice">
      <legend className="sr">Status</legend>
      {chip('', 'All', countOf(counts, undefined))}
      {shownStatuses.map((value) => {
        const { word, icon, tone } = wordsOf(value)
        const words = (
          <>
            <StatusIcon icon={icon} />
            {word}
          </>
        )
        return chip(value, words, countOf(counts, value), `st-${tone}`)
      })}
    </fieldset>
  )
}

/** Filters that other pages link to: what they ask for, and the way to take each away. */
function OtherFilters({ filters }: { filters: TaskFilters }) {
  const zone = useTimeZone()
  const { cause, ended_from: from, ended_to: to } = filters
  const { ended_from: _from, ended_to: _to, ...anyEnd } = filters
  const { cause: _cause, ...anyCause } = filters
  if (cause === undefined && from === undefined && to === undefined) return null
  return (
    <div className="row">
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
