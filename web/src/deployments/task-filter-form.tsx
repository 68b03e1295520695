import { useDebouncedCallback } from '@mantine/hooks'
import { memo, type ReactNode, useEffect, useId, useState } from 'react'
import type { TaskRecord } from '../../../contract/task.ts'
import { Icon } from '../ui/icon.tsx'
import { StatusIcon } from './status-mark.tsx'
import { shownStatuses, wordsOf } from './status-words.ts'
import type { FilterName, TaskFilters } from './task-filters.ts'

type Props = {
  filters: TaskFilters
  /** The rows on the page: their names are offered while one types. */
  tasks: readonly TaskRecord[]
  change: (name: FilterName, value: string) => void
}

const typingPauseMs = 300

/** Status chips and text filters. What is typed becomes the address after a short pause. */
export function TaskFilterForm({ filters, tasks, change }: Props) {
  const [more, setMore] = useState(filters.author !== undefined)
  return (
    <search>
      <form className="filters" aria-label="Tasks" onSubmit={(event) => event.preventDefault()}>
        <StatusChips status={filters.status} change={(status) => change('status', status)} />
        <div className="line">
          <TextFilter
            label="Search"
            type="search"
            placeholder="Name, tag, author, id or commit"
            className="field wide"
            value={filters.search}
            change={(value) => change('search', value)}
            keys="/"
          />
          {(['app', 'project', 'author'] as const).map((name) => (
            <TextFilter
              key={name}
              label={labels[name]}
              type="text"
              placeholder="All"
              className={name === 'author' && !more ? 'field hide-phone' : 'field'}
              value={filters[name]}
              change={(value) => change(name, value)}
              offered={[...new Set(tasks.map((task) => task[name]))].toSorted()}
            />
          ))}
          <button className="btn only-phone" type="button" aria-expanded={more} onClick={() => setMore(!more)}>
            <Icon name="i-down" className="tiny" />
            {more ? 'Fewer filters' : 'More filters'}
          </button>
        </div>
      </form>
    </search>
  )
}

const labels = { app: 'Application', project: 'Project', author: 'Author' }

function StatusChips({ status, change }: { status: string | undefined; change: (status: string) => void }) {
  const chip = (value: string, words: ReactNode, className?: string) => (
    <label key={value} className={className}>
      <input
        type="radio"
        name="status"
        value={value}
        checked={(status ?? '') === value}
        onChange={() => change(value)}
      />
      {words}
    </label>
  )
  return (
    <fieldset className="choice">
      <legend className="sr">Status</legend>
      {chip('', 'All')}
      {shownStatuses.map((value) => {
        const { word, icon, tone } = wordsOf(value)
        const words = (
          <>
            <StatusIcon icon={icon} />
            {word}
          </>
        )
        return chip(value, words, `st-${tone}`)
      })}
    </fieldset>
  )
}

type TextFilterProps = {
  label: string
  type: 'search' | 'text'
  placeholder: string
  className: string
  value: string | undefined
  change: (value: string) => void
  offered?: readonly string[]
  keys?: string
}

function TextFilter({ label, type, placeholder, className, value = '', change, offered, keys }: TextFilterProps) {
  const id = useId()
  const [typed, setTyped] = useState(value)
  const changeSoon = useDebouncedCallback(change, typingPauseMs)
  useEffect(() => setTyped(value), [value])
  const take = (text: string) => {
    setTyped(text)
    changeSoon(text)
  }
  return (
    <div className={className}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        placeholder={placeholder}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        list={offered === undefined ? undefined : `${id}-list`}
        onChange={(event) => take(event.currentTarget.value)}
        aria-keyshortcuts={keys}
      />
      {offered === undefined ? null : <Offered id={`${id}-list`} names={JSON.stringify(offered)} />}
    </div>
  )
}

/** `names` is a list in JSON: a page whose rows change many times a second offers the same names all the while. */
const Offered = memo(function Offered({ id, names }: { id: string; names: string }) {
  const offered: readonly string[] = JSON.parse(names)
  return (
    <datalist id={id}>
      {offered.map((name) => (
        <option value={name} key={name} />
      ))}
    </datalist>
  )
})
