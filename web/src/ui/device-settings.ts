import { useSyncExternalStore } from 'react'
import { ownTimeZone } from './zoned-time.ts'

/** What this device keeps for itself; the first value is the default. */
const choices = { zone: ['utc', 'local'], times: ['relative', 'absolute'], shortcuts: ['on', 'off'] } as const
type Choices = typeof choices

const listeners = new Set<() => void>()

/** A browser may keep nothing (private windows, blocked storage): then a choice holds as long as the page. */
const chosen = new Map<string, string>()
const storageKey = (name: string) => `deployment-watcher.${name}`

export function deviceSetting<Name extends keyof Choices>(name: Name): Choices[Name][number] {
  const value = chosen.get(name) ?? stored(name)
  const known: readonly Choices[Name][number][] = choices[name]
  return known.find((choice) => choice === value) ?? choices[name][0]
}

function stored(name: string): string | null {
  try {
    return localStorage.getItem(storageKey(name))
  } catch {
    return null
  }
}

export function setDeviceSetting<Name extends keyof Choices>(name: Name, value: Choices[Name][number]): void {
  chosen.set(name, value)
  try {
    localStorage.setItem(storageKey(name), value)
  } catch {
    // it holds until the page is closed
  }
  for (const listener of listeners) listener()
}

export const useDeviceSetting = <Name extends keyof Choices>(name: Name): Choices[Name][number] =>
  useSyncExternalStore(subscribe, () => deviceSetting(name))

/** The name of the time zone in which this device shows times. */
export const useTimeZone = (): string => (useDeviceSetting('zone') === 'utc' ? 'UTC' : ownTimeZone())

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
