import { useDocumentTitle } from '@mantine/hooks'
import { useEffect, useSyncExternalStore } from 'react'

/** What the page tells without a look at it: something rolls out, or something is wrong. */
export type TabMood = 'moving' | 'bad'

/** `waiting`: how many entries the page has not shown yet; empty for none. */
type Tab = { readonly mood?: TabMood | undefined; readonly waiting?: string }

const listeners = new Set<() => void>()
let shown: TabMood | undefined

/** Gives the tab its title, beginning with what matters, and its mood. */
export function useTab(title: string, { mood, waiting = '' }: Tab = {}): void {
  useDocumentTitle(tabTitle(title, waiting))
  useEffect(() => {
    setMood(mood)
    return () => setMood(undefined)
  }, [mood])
}

/** `(1) Deployments · Deployment Watcher` */
export const tabTitle = (title: string, waiting: string): string =>
  `${waiting === '' ? '' : `(${waiting}) `}${title} · Deployment Watcher`

function setMood(mood: TabMood | undefined): void {
  shown = mood
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The mood that the page gave its tab. */
export const useTabMood = (): TabMood | undefined => useSyncExternalStore(subscribe, () => shown)
