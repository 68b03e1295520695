import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useId, useState } from 'react'
import type { NameField } from '../../../contract/task-names.ts'
import { useTaskNames } from './read-names.ts'

const typingPauseMs = 300
const labels = { app: 'Application', project: 'Project', author: 'Author' }

type NameProps = { name: NameField; className: string; value: string | undefined; change: (value: string) => void }

/** A name that tasks have: those like what is typed are offered. */
export function NameFilter({ name, className, value, change }: NameProps) {
  const [asked, setAsked] = useState<string | undefined>()
  const names = useTaskNames(name, asked ?? '', asked !== undefined)
  return (
    <TextFilter
      label={labels[name]}
      type="text"
      placeholder="All"
      className={className}
      value={value}
      change={(text) => {
        setAsked(text)
        change(text)
      }}
      onFocus={() => setAsked((known) => known ?? '')}
      offered={names}
    />
  )
}

type TextFilterProps = {
  label: string
  type: 'search' | 'text'
  placeholder: string
  className: string
  value: string | undefined
  change: (value: string) => void
  onFocus?: () => void
  offered?: readonly string[]
}

/** What is typed is a filter after a short pause. */
export function TextFilter({
  label,
  type,
  placeholder,
  className,
  value = '',
  change,
  onFocus,
  offered,
}: TextFilterProps) {
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
        onFocus={onFocus}
      />
      {offered === undefined ? null : (
        <datalist id={`${id}-list`}>
          {offered.map((name) => (
            <option value={name} key={name} />
          ))}
        </datalist>
      )}
    </div>
  )
}
