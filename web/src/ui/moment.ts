import { noBreak } from './figure.ts'
import { clockIn, dateIn, offsetWords, secondIn, wallDay, yearIn, zoneLabel } from './zoned-time.ts'

// Moments in Unix seconds, in words. Built by hand: no locale of a browser can break them.

/** `14:30:52` on the day of `now`, else `18 Nov, 14:30:52`. */
function stepTime(at: number, now: number, zone: string): string {
  return beside(at, now, zone, secondIn(at, zone))
}

/** `14:30:52` on the day of `now`, else `18 Nov, 14:30:52`; with the zone where clocks in `own` show another time. */
export function clockTime(at: number, now: number, zone: string, own: string): string {
  return `${stepTime(at, now, zone)}${zoneLabel(at, zone, own)}`
}

/** The same without the seconds. */
export function shortTime(at: number, now: number, zone: string, own: string): string {
  return `${beside(at, now, zone, clockIn(at, zone))}${zoneLabel(at, zone, own)}`
}

/** `19 Nov 2026, 14:30:52 UTC` */
export function exactTime(at: number, zone = 'UTC'): string {
  return `${dateOf(at, zone)}, ${secondIn(at, zone)}${noBreak}${offsetWords(at, zone)}`
}

const beside = (at: number, now: number, zone: string, clock: string): string =>
  wallDay(at, zone) === wallDay(now, zone) ? clock : `${dayBeside(at, now, zone)}, ${clock}`

/** The day, with the year where `now` is in another one. */
const dayBeside = (at: number, now: number, zone: string): string =>
  yearIn(at, zone) === yearIn(now, zone) ? dateIn(at, zone) : dateOf(at, zone)

/** `18 Feb 2026` */
export const dateOf = (at: number, zone: string): string => `${dateIn(at, zone)}${noBreak}${yearIn(at, zone)}`

/** For the `datetime` attribute. */
export const isoTime = (at: number): string => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`

/**
 * `9 s ago`, `6 min ago`, `3 h ago`; from one day on the date, with the year once it is another one.
 * A moment ahead of this device's clock is 0 s ago.
 */
export function relativeTime(at: number, now: number, zone: string): string {
  const seconds = Math.max(0, Math.floor(now - at))
  if (seconds < 60) return `${seconds}${noBreak}s${noBreak}ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}${noBreak}min${noBreak}ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}${noBreak}h${noBreak}ago`
  return dayBeside(at, now, zone)
}
