import { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks'
import { useEffect, useId, useState } from 'react'
import type { NameField } from '../../../contract/task-names.ts'
import { useTaskNames } from './read-names.ts'

const typingPauseMs = 300
const labels = { app: 'Application', project: 'Project', environment: 'Environment', author: 'Author' }

type Props = { className: string; value: string | undefined; change: (value: string) => void }

/** A name that tasks have: those like what is typed are offered. It is a filter once it is chosen, entered or left. */
export function NameFilter({ name, className, value = '', change }: Props & { name: NameField }) {
  const id = useId()
  const [typed, setTyped] = useTyped(value)
  const [isAsked, setAsked] = useState(false)
  const [asked] = useDebouncedValue(typed, typingPauseMs)
  const names = useTaskNames(name, asked, isAsked)
  const apply = (text: string) => text !== value && change(text)
  return (
    <div className={className}>
      <label htmlFor={id}>{labels[name]}</label>
      <input
        {...looks}
        id={id}
        type="text"
        placeholder="All"
        value={typed}
        list={`${id}-list`}
        onChange={({ currentTarget, nativeEvent }) => {
          setTyped(currentTarget.value)
          if (isChoice(nativeEvent)) apply(currentTarget.value)
        }}
        onKeyDown={({ key }) => key === 'Enter' && apply(typed)}
        onFocus={() => setAsked(true)}
        onBlur={() => apply(typed)}
      />
      <datalist id={`${id}-list`}>
        {names.map((one) => (
          <option value={one} key={one} />
        ))}
      </datalist>
    </div>
  )
}

/** Whether an offered name was chosen rather than a key pressed; Safari says so by an event without a kind. */
const isChoice = (event: Event) => !('inputType' in event) || event.inputType === 'insertReplacementText'

type TextFilterProps = Props & { label: string; placeholder: string }

/** What is typed is a filter after a short pause. */
export function TextFilter({ label, placeholder, className, value = '', change }: TextFilterProps) {
  const id = useId()
  const [typed, setTyped] = useTyped(value)
  const changeSoon = useDebouncedCallback(change, typingPauseMs)
  return (
    <div className={className}>
      <label htmlFor={id}>{label}</label>
      <input
        {...looks}
        id={id}
        type="search"
        placeholder={placeholder}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          changeSoon(currentTarget.value)
        }}
      />
    </div>
  )
}

const looks = { autoComplete: 'off', spellCheck: false } as const

/** What is typed, until the filter is another one. */
function useTyped(value: string) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return [typed, setTyped] as const
}
