import type { ReactNode } from 'react'
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
import { Icon } from '../ui/icon.tsx'
import { useFoundTasks } from './find-tasks.ts'

const maxApps = 8

/** One thing that can be done: it leads to a page, or does something here. */
export type Entry = {
  readonly key: string
  readonly group: 'Deployments' | 'Applications' | 'Pages' | 'Actions'
  readonly content: ReactNode
  readonly act: { readonly to: string } | { readonly run: () => void }
  /** The keys that do the same. */
  readonly shortcut?: string
}

/** What is found, group by group. `search` is `typed`, a moment later: what is asked of the service. */
export function useEntries(
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
