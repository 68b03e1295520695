import { noBreak } from './figure.ts'

const daySeconds = 86_400
const weekdays = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'] // 1 January 1970 was a Thursday
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const formats = new Map<string, Intl.DateTimeFormat>()

/** @throws {RangeError} for a time zone that this browser does not know */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

/** The time zone of this device. */
export const ownTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** What a clock in the zone shows, in seconds since 1970 as if it stood in UTC. `at` is in Unix seconds. */
export function wallSeconds(at: number, zone: string): number {
  const parts = formatOf(zone).formatToParts(Math.floor(at) * 1000)
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)?.value)
  const day = Date.UTC(part('year'), part('month') - 1, part('day'))
  return day / 1000 + part('hour') * 3_600 + part('minute') * 60 + part('second')
}

/**
 * Unix seconds at which a clock in the zone shows this. Of two such moments the first; a time that a change of the clock
 * leaves out counts as that much after the change.
 */
export function epochAt(wall: number, zone: string): number {
  const offsetAt = (at: number) => wallSeconds(at, zone) - at
  const before = wall - offsetAt(wall - daySeconds)
  const after = wall - offsetAt(wall + daySeconds)
  const exact = [before, after].filter((at) => wallSeconds(at, zone) === wall)
  return exact.length > 0 ? Math.min(...exact) : before
}

/** Unix seconds of what an input of a date and a time holds, read in the zone; undefined where it is not complete. */
export function fromPicker(text: string, zone: string): number | undefined {
  const wall = Date.parse(`${text}Z`) / 1000
  return Number.isNaN(wall) ? undefined : epochAt(wall, zone)
}

/** What an input of a date and a time has to hold to show this moment in the zone, to the minute. */
export const toPicker = (at: number, zone: string): string =>
  new Date(wallSeconds(at, zone) * 1000).toISOString().slice(0, 16)

/** Days since 1970 in the zone. */
export const wallDay = (at: number, zone: string): number => Math.floor(wallSeconds(at, zone) / daySeconds)

/** When a day, counted as by `wallDay`, begins in the zone. */
export const startOfDay = (day: number, zone: string): number => epochAt(day * daySeconds, zone)

/** Monday is 0. */
export const weekdayOf = (day: number): number => (day + 3) % 7

const pad = (figure: number) => String(figure).padStart(2, '0')

/** `07:00`, on a clock in the zone. */
export function clockIn(at: number, zone: string): string {
  const minutes = Math.floor((wallSeconds(at, zone) % daySeconds) / 60)
  return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}

/** `07:00:59`, on a clock in the zone. */
export const secondIn = (at: number, zone: string): string => `${clockIn(at, zone)}:${pad(wallSeconds(at, zone) % 60)}`

/** `20 Nov`, on a calendar in the zone. */
export function dateIn(at: number, zone: string): string {
  const date = new Date(wallSeconds(at, zone) * 1000)
  return `${date.getUTCDate()}${noBreak}${months[date.getUTCMonth()]}`
}

/** `Fri 20 Nov`, on a calendar in the zone. */
export const dayIn = (at: number, zone: string): string =>
  `${weekdays[wallDay(at, zone) % 7]}${noBreak}${dateIn(at, zone)}`

/** `17:30` today, else `Fri 20 Nov, 17:30`; with the year where it is another one. */
export function timeIn(at: number, now: number, zone: string): string {
  if (wallDay(at, zone) === wallDay(now, zone)) return clockIn(at, zone)
  const year = yearIn(at, zone)
  return `${dayIn(at, zone)}${year === yearIn(now, zone) ? '' : `${noBreak}${year}`}, ${clockIn(at, zone)}`
}

/** As `timeIn`, with the zone where clocks in `own` show another time. */
export function labelledTime(at: number, now: number, zone: string, own: string): string {
  return `${timeIn(at, now, zone)}${zoneLabel(at, zone, own)}`
}

/** What follows a time in the zone: nothing where clocks in `own` show the same. */
export const zoneLabel = (at: number, zone: string, own: string): string =>
  wallSeconds(at, zone) === wallSeconds(at, own) ? '' : `${noBreak}${offsetWords(at, zone)}`

/** `Stockholm, UTC+1`, `UTC` */
export function zoneName(zone: string, at: number): string {
  const [city, offset] = [zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone, offsetWords(at, zone)]
  return city === offset ? city : `${city}, ${offset}`
}

export const yearIn = (at: number, zone: string) => new Date(wallSeconds(at, zone) * 1000).getUTCFullYear()

/** `UTC+1`, `UTC+5:30` or `UTC`, at that moment. */
export function offsetWords(at: number, zone: string): string {
  const minutes = Math.round((wallSeconds(at, zone) - Math.floor(at)) / 60)
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${pad(rest)}`}`
}
