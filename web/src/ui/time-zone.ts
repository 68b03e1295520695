import { useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { isTimeZone } from '../../../contract/fields.ts'
import { keepZone, useZoneSetting } from './device-settings.ts'
import { labelledTime, ownTimeZone } from './zoned-time.ts'

/** The zone that the address asks for (`tz`), else that of the setting: `utc`, `local`, which is `own`, or a name. */
export function shownZone(asked: string, setting: string, own: string): string {
  if (isTimeZone(asked)) return asked
  if (setting === 'local') return own
  return setting !== 'utc' && isTimeZone(setting) ? setting : 'UTC'
}

/** The name of the time zone in which the page shows every time. */
export function useTimeZone(): string {
  const [search, setting] = [useSearch(), useZoneSetting()]
  return useMemo(
    () => shownZone(new URLSearchParams(search).get('tz') ?? '', setting, ownTimeZone()),
    [search, setting],
  )
}

/** Gives what a reader chooses the place of the setting and of a zone that the address asks for. */
export function useChooseZone(): (setting: string) => void {
  const [path, navigate] = useLocation()
  const query = new URLSearchParams(useSearch())
  return (setting) => {
    keepZone(setting)
    if (!query.has('tz')) return
    query.delete('tz')
    navigate(query.size === 0 ? path : `${path}?${query}`, { replace: true })
  }
}

/** Words a time as every part of the page does. */
export function useTimeWords(now: number): (at: number) => string {
  const zone = useTimeZone()
  return (at) => labelledTime(at, now, zone, ownTimeZone())
}
