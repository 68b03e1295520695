import { useDebouncedValue } from '@mantine/hooks'
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import { pages } from '../app/pages.ts'
import { useTaskNames } from '../deployments/read-names.ts'
import { StatusMark } from '../deployments/status-mark.tsx'
import { listAddress } from '../deployments/task-filters.ts'
import { failureWords } from '../ui/failure-words.ts'
import { focusNext } from '../ui/focus-next.ts'
import { Icon } from '../ui/icon.tsx'
import { useFoundTasks } from './find-tasks.ts'

const typingPauseMs = 200
const maxApps = 8

/** Leads to an application, a task or a page. Escape closes it, and the focus goes back to where it was. */
export function FindDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const field = useId()
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), typingPauseMs)
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])

  const links = () => [...(dialog.current?.querySelectorAll<HTMLAnchorElement>('a') ?? [])]
  const openFirst = (event: FormEvent) => {
    event.preventDefault()
    links()[0]?.click()
  }
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined
    if (step === undefined) return
    event.preventDefault()
    const isFirst = step === -1 && links()[0]?.matches(':focus')
    if (isFirst) document.getElementById(field)?.focus()
    else focusNext(links(), step)
  }
  return (
    <dialog className="dialog finder" ref={dialog} aria-label="Find" onClose={onClose} onKeyDown={walk}>
      <div>
        <form onSubmit={openFirst}>
          <label className="sr" htmlFor={field}>
            Application, task id, commit or page
          </label>
          <input
            id={field}
            type="search"
            placeholder="Application, task id, commit or page"
            autoComplete="off"
            spellCheck={false}
            maxLength={255}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </form>
        <Results search={search} typed={typed.trim()} close={() => dialog.current?.close()} />
      </div>
    </dialog>
  )
}

/** @param search `typed`, a moment later: what is asked of the service */
function Results({ search, typed, close }: { search: string; typed: string; close: () => void }) {
  // Until the answer to what is typed comes, that of the text before may be shown: only what matches of it.
  const isLikeTyped = (name: string) => name.toLowerCase().includes(typed.toLowerCase())
  const apps = useTaskNames('app', search).filter(isLikeTyped).slice(0, maxApps)
  const { tasks, error } = useFoundTasks(search)
  const matching = pages.filter(({ name }) => isLikeTyped(name))
  return (
    <>
      <Group name="Tasks">
        {tasks.map(({ id, app, status, commit }) => (
          <Found to={`/task/${encodeURIComponent(id)}`} close={close} key={id}>
            <StatusMark status={status} />
            <span className="name">{app}</span> <code className="dim">{shortened(commit ?? id)}</code>
          </Found>
        ))}
      </Group>
      <Group name="Applications">
        {apps.map((app) => (
          <Found to={listAddress({ app })} close={close} key={app}>
            <span className="name">{app}</span>
          </Found>
        ))}
      </Group>
      <Group name="Pages">
        {matching.map(({ path, name, icon }) => (
          <Found to={path} close={close} key={path}>
            <Icon name={icon} />
            {name}
          </Found>
        ))}
        {typed === '' ? null : (
          <Found to={listAddress({ search: typed })} close={close}>
            <Icon name="i-find" />
            <span>Tasks with “{typed}”</span>
          </Found>
        )}
      </Group>
      {error === null ? null : (
        <p className="field-error" role="alert">
          <Icon name="i-failed" />
          Tasks could not be searched: {failureWords(error)}
        </p>
      )}
      <p className="sr" role="status">
        {search === '' ? '' : `${tasks.length} tasks, ${apps.length} applications, ${matching.length} pages`}
      </p>
    </>
  )
}

const shortened = (text: string) => (text.includes('-') ? text : text.slice(0, 7))

function Group({ name, children }: { name: string; children: ReactNode }) {
  const isEmpty = [children].flat().every((child) => child === null || (Array.isArray(child) && child.length === 0))
  if (isEmpty) return null
  return (
    <section aria-label={name}>
      <h2 className="label">{name}</h2>
      <ul>{children}</ul>
    </section>
  )
}

function Found({ to, close, children }: { to: string; close: () => void; children: ReactNode }) {
  return (
    <li>
      <Link className="found" href={to} onClick={close}>
        {children}
      </Link>
    </li>
  )
}
