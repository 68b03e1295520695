import type { Zone } from './device-settings.ts'

const noBreak = '\u00a0'
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const pad = (figure: number) => String(figure).padStart(2, '0')
const day = (date: Date) => `${date.getUTCDate()}${noBreak}${months[date.getUTCMonth()]}`

/** A date whose UTC fields are what a clock on the wall of `zone` shows. */
function wallClock(at: number, zone: Zone): { date: Date; name: string } {
  const date = new Date(at * 1000)
  if (zone === 'utc') return { date, name: 'UTC' }
  const minutes = -date.getTimezoneOffset()
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${pad(rest)}`}`
  return { date: new Date(date.getTime() + minutes * 60_000), name: minutes === 0 ? 'UTC' : `UTC${offset}` }
}

/** `14:30:52`, for Unix seconds, where UTC is said beside it. Built by hand: no locale of a browser can break it. */
export const bareClockTime = (at: number): string => clockFigures(new Date(at * 1000))

const clockFigures = (date: Date): string =>
  `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`

/** `14:30:52 UTC`, for Unix seconds. */
export function clockTime(at: number, zone: Zone = 'utc'): string {
  const { date, name } = wallClock(at, zone)
  return `${clockFigures(date)}${noBreak}${name}`
}

/** `19 Nov 2026, 14:30:52 UTC`, for Unix seconds. */
export function exactTime(at: number, zone: Zone = 'utc'): string {
  return `${dateOf(at, zone)}, ${clockTime(at, zone)}`
}

/** `14:30` on the day of `now`, else `18 Nov, 14:30`; with the year where it is another one. In Unix seconds. */
export function shortTime(at: number, now: number, zone: Zone = 'utc'): string {
  const [{ date }, { date: today }] = [wallClock(at, zone), wallClock(now, zone)]
  const minutes = clockFigures(date).slice(0, 5)
  const isToday = date.toISOString().slice(0, 10) === today.toISOString().slice(0, 10)
  return isToday ? minutes : `${dayBeside(date, today)}, ${minutes}`
}

/** The day, with the year where `today` is in another one. */
function dayBeside(date: Date, today: Date): string {
  const isSameYear = date.getUTCFullYear() === today.getUTCFullYear()
  return isSameYear ? day(date) : `${day(date)}${noBreak}${date.getUTCFullYear()}`
}

/** `18 Feb 2026` */
export function dateOf(at: number, zone: Zone = 'utc'): string {
  const { date } = wallClock(at, zone)
  return `${day(date)}${noBreak}${date.getUTCFullYear()}`
}

/** For the `datetime` attribute. */
export const isoTime = (at: number): string => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`

/**
 * `9 s ago`, `6 min ago`, `3 h ago`; from one day on the date, with the year once it is another one.
 * A moment ahead of this device's clock is 0 s ago.
 */
export function relativeTime(at: number, now: number, zone: Zone = 'utc'): string {
  const seconds = Math.max(0, Math.floor(now - at))
  if (seconds < 60) return `${seconds}${noBreak}s${noBreak}ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}${noBreak}min${noBreak}ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}${noBreak}h${noBreak}ago`
  return dayBeside(wallClock(at, zone).date, wallClock(now, zone).date)
}
