import { useSyncExternalStore } from 'react'

/** What this device keeps for itself; the first value is the default. */
const choices = {
  colours: ['auto', 'light', 'dark'],
  times: ['relative', 'absolute'],
  shortcuts: ['on', 'off'],
} as const
type Choices = typeof choices

const listeners = new Set<() => void>()

/** A browser may keep nothing (private windows, blocked storage): then a choice holds as long as the page. */
const chosen = new Map<string, string>()
const storageKey = (name: string) => `deployment-watcher.${name}`

export function deviceSetting<Name extends keyof Choices>(name: Name): Choices[Name][number] {
  const value = kept(name)
  const known: readonly Choices[Name][number][] = choices[name]
  return known.find((choice) => choice === value) ?? choices[name][0]
}

function kept(name: string): string | null {
  const value = chosen.get(name)
  if (value !== undefined) return value
  try {
    return localStorage.getItem(storageKey(name))
  } catch {
    return null
  }
}

function keep(name: string, value: string): void {
  chosen.set(name, value)
  try {
    localStorage.setItem(storageKey(name), value)
  } catch {
    // it holds until the page is closed
  }
  for (const listener of listeners) listener()
}

export const setDeviceSetting = <Name extends keyof Choices>(name: Name, value: Choices[Name][number]): void =>
  keep(name, value)

export const useDeviceSetting = <Name extends keyof Choices>(name: Name): Choices[Name][number] =>
  useSyncExternalStore(subscribe, () => deviceSetting(name))

/** `utc`, `local`, or the name of a time zone. */
export const useZoneSetting = (): string => useSyncExternalStore(subscribe, () => kept('zone') ?? 'local')
export const keepZone = (zone: string): void => keep('zone', zone)

const maxViews = 12
const viewMark = '\n'

/** Query strings of lists that this device keeps. */
export const useSavedViews = (): readonly string[] =>
  useSyncExternalStore(subscribe, () => kept('views') ?? '')
    .split(viewMark)
    .filter((view) => view !== '')
export const keepViews = (views: readonly string[]): void => keep('views', views.slice(-maxViews).join(viewMark))

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
