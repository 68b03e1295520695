import { useDebouncedValue } from '@mantine/hooks'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { AppSummary } from '../../../contract/app-summary.ts'
import { pages } from '../app/pages.ts'
import { useTaskNames } from '../deployments/read-names.ts'
import { useKnownSummaries } from '../deployments/read-summaries.ts'
import { StatusIcon, StatusMark } from '../deployments/status-mark.tsx'
import { wordsOf } from '../deployments/status-words.ts'
import { listAddress } from '../deployments/task-filters.ts'
import { sortTiles } from '../overview/views.ts'
import { useColours } from '../ui/colours.ts'
import { setDeviceSetting } from '../ui/device-settings.ts'
import { failureWords } from '../ui/failure-words.ts'
import { Icon } from '../ui/icon.tsx'
import { useFoundTasks } from './find-tasks.ts'

const typingPauseMs = 200
const maxApps = 8

/** One thing that can be done: it leads to a page, or does something here. */
type Entry = {
  readonly key: string
  readonly group: 'Deployments' | 'Applications' | 'Pages' | 'Actions'
  readonly content: ReactNode
  readonly act: { readonly to: string } | { readonly run: () => void }
  /** The keys that do the same. */
  readonly shortcut?: string
}

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

/** @param search `typed`, a moment later: what is asked of the service */
function useEntries(
  typed: string,
  search: string,
): { readonly entries: readonly Entry[]; readonly error: Error | null } {
  const colours = useColours()
  // Until the answer to what is typed comes, that of the text before may be shown: only what matches of it.
  const isLikeTyped = (name: string) => name.toLowerCase().includes(typed.toLowerCase())
  const summaries = useKnownSummaries()
  const names = useTaskNames('app', search)
  const known = new Map(summaries.map((summary) => [summary.app, summary]))
  const apps = [...new Set([...sortTiles(summaries).map(({ app }) => app), ...names])].filter(isLikeTyped)
  const { tasks, error } = useFoundTasks(search)
  const other = colours === 'dark' ? 'light' : 'dark'
  const actions: readonly (Entry & { readonly name: string })[] = [
    {
      key: 'lock',
      name: 'Lock deployments…',
      group: 'Actions',
      content: (
        <>
          <Icon name="i-locked" />
          Lock deployments…
        </>
      ),
      act: { to: '/lock' },
      shortcut: 'g l',
    },
    {
      key: 'scheme',
      name: `Switch to ${other}`,
      group: 'Actions',
      content: `Switch to ${other}`,
      act: { run: () => setDeviceSetting('colours', other) },
    },
  ]
  const entries: readonly Entry[] = [
    ...tasks.map(
      ({ id, app, status, commit }): Entry => ({
        key: id,
        group: 'Deployments',
        content: (
          <>
            <StatusMark status={status} />
            <span className="name clamp">{app}</span> <code className="dim">{shortened(commit ?? id)}</code>
          </>
        ),
        act: { to: `/task/${encodeURIComponent(id)}` },
      }),
    ),
    ...apps.slice(0, maxApps).map(
      (app): Entry => ({
        key: `app ${app}`,
        group: 'Applications',
        content: <Application app={app} summary={known.get(app)} />,
        act: { to: listAddress({ app }) },
      }),
    ),
    ...pages
      .filter(({ name }) => isLikeTyped(name))
      .map(
        ({ path, name, icon, key }): Entry => ({
          key: path,
          group: 'Pages',
          content: (
            <>
              <Icon name={icon} />
              {name}
            </>
          ),
          act: { to: path },
          shortcut: `g ${key}`,
        }),
      ),
    ...actions.filter(({ name }) => isLikeTyped(name)),
    ...(typed === '' ? [] : [searchEntry(typed)]),
  ]
  return { entries, error }
}

const searchEntry = (typed: string): Entry => ({
  key: 'search',
  group: 'Actions',
  content: (
    <>
      <Icon name="i-find" />
      <span>Deployments with “{typed}”</span>
    </>
  ),
  act: { to: listAddress({ search: typed }) },
})

const shortened = (text: string) => (text.includes('-') ? text : text.slice(0, 7))

/** With the shape of its last outcome and the version that was deployed last. */
function Application({ app, summary }: { app: string; summary: AppSummary | undefined }) {
  const status = summary?.latest?.status
  return (
    <>
      {status === undefined ? null : (
        <span className={`st st-${wordsOf(status).tone}`} title={wordsOf(status).word}>
          <StatusIcon icon={wordsOf(status).icon} />
        </span>
      )}
      <span className="name clamp">{app}</span>
      <code className="dim">{summary?.last_deployment?.images[0]?.tag}</code>
    </>
  )
}
