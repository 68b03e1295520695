import { useDeviceSetting } from './device-settings.ts'
import { clockTime, exactTime, isoTime, relativeTime, shortTime } from './moment.ts'
import { useNow } from './now.tsx'
import { useTimeZone } from './time-zone.ts'
import { ownTimeZone } from './zoned-time.ts'

/** How long ago, or when, as this device has chosen; the exact time is in the title and for machines. */
export function Ago({ at }: { at: number }) {
  const [zone, times, now] = [useTimeZone(), useDeviceSetting('times'), useNow()]
  return (
    <time dateTime={isoTime(at)} title={exactTime(at, zone)}>
      {times === 'absolute' ? shortTime(at, now, zone, ownTimeZone()) : relativeTime(at, now, zone)}
    </time>
  )
}

/** The time of day, with the date where it is another day's and the zone where it is not this device's. */
export function At({ at }: { at: number }) {
  const zone = useTimeZone()
  return (
    <time dateTime={isoTime(at)} title={exactTime(at, zone)}>
      {clockTime(at, useNow(), zone, ownTimeZone())}
    </time>
  )
}

/** Date and time in full. */
export function Exactly({ at }: { at: number }) {
  const zone = useTimeZone()
  return <time dateTime={isoTime(at)}>{exactTime(at, zone)}</time>
}
