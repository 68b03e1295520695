import { useDebouncedValue } from '@mantine/hooks'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { failureWords } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { type Entry, useEntries } from './find-entries.tsx'

const typingPauseMs = 200

/** Leads to an application, a deployment or a page, and does what is done most. The first row is chosen; Escape closes it. */
export function FindDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [field, list] = [useId(), useId()]
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), typingPauseMs)
  const [at, setAt] = useState(0)
  const [, navigate] = useLocation()
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])
  const { entries, error } = useEntries(typed.trim(), search)
  const chosen = Math.min(at, entries.length - 1)

  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return
    dialog.current?.close()
    if ('to' in entry.act) navigate(entry.act.to)
    else entry.act.run()
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (step === undefined) return open(entries[chosen])
    const next = (chosen + step + entries.length) % entries.length
    setAt(next)
    document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog className="dialog finder" ref={dialog} aria-label="Find" onClose={onClose}>
      <div>
        <label className="sr" htmlFor={field}>
          Application, deployment id, commit, page or action
        </label>
        <input
          id={field}
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosen < 0 ? undefined : `${list}-${chosen}`}
          placeholder="Application, deployment id, commit, page or action"
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          value={typed}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={press}
        />
        <div role="listbox" id={list} aria-label="Found">
          {entries.map((entry, index) => (
            <Row
              entry={entry}
              id={`${list}-${index}`}
              isChosen={index === chosen}
              isFirst={entry.group !== entries[index - 1]?.group}
              open={() => open(entry)}
              key={entry.key}
            />
          ))}
        </div>
        {error === null ? null : (
          <p className="field-error" role="alert">
            <Icon name="i-failed" />
            Deployments could not be searched: {failureWords(error)}
          </p>
        )}
        <p className="sr" role="status">
          {search === '' ? '' : `${entries.length} found`}
        </p>
      </div>
    </dialog>
  )
}

type RowProps = { entry: Entry; id: string; isChosen: boolean; isFirst: boolean; open: () => void }

function Row({ entry: { group, content, shortcut }, id, isChosen, isFirst, open }: RowProps) {
  return (
    <>
      {isFirst ? (
        <div className="label" aria-hidden="true">
          {group}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and takes the keys */}
      <div className="found" role="option" id={id} aria-selected={isChosen} onClick={open}>
        {content}
        {shortcut === undefined ? null : (
          <span className="end">
            {shortcut.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </span>
        )}
      </div>
    </>
  )
}
