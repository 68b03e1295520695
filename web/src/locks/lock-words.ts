import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { clockIn } from '../ui/zoned-time.ts'
import type { WeekDay, WeekMark } from './lay-out-week.ts'

/** Words a moment in Unix seconds. */
type TimeWords = (at: number) => string

/** `Locked until 17:30`, `Locked until released`, `Open`. */
export function lockHeadline({ active, source, until }: DeployLockDetails, time: TimeWords): string {
  if (!active) return 'Open'
  if (until !== null) return `Locked until ${time(until)}`
  return source === 'manual' ? 'Locked until released' : 'Locked'
}

/** `Deployments are locked until 18:18 by ada: Moving the database.` */
export function lockSentence({ source, until, set_by: setBy, reason }: DeployLockDetails, time: TimeWords): string {
  const end = until === null ? '' : ` until ${time(until)}`
  if (source === 'schedule') return `Deployments are locked${end} by schedule.`
  return `Deployments are locked${end} by ${setBy ?? 'a user'}${reason === null ? '' : `: ${reason}`}.`
}

/** A note of the audit, whose times are as the service wrote them, by the clock of the page. */
export const noteWords = (note: string, time: TimeWords): string =>
  note.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (iso) => time(Date.parse(iso) / 1000))

/** Who or what locks, and since when; while open, what comes next. */
export function lockOrigin(lock: DeployLockDetails, time: TimeWords): string {
  const { active, source, since, set_by: setBy, next_window: next, override_until: overrideUntil } = lock
  const sinceWords = since === null ? '' : ` since ${time(since)}`
  if (active) return source === 'manual' ? `by ${setBy ?? 'a user'}${sinceWords}` : `by schedule${sinceWords}`
  if (overrideUntil !== null) return `inside a lockdown window, until ${time(overrideUntil)}`
  if (next === null) return 'No lockdown window is ahead.'
  const ends = next.to === null ? '' : ` to ${time(next.to)}`
  return `Next lockdown window: ${time(next.from)}${ends}.`
}

const kindWords: Record<WeekMark['kind'], { locks: string; until: string; both: string; allDay: string }> = {
  scheduled: { locks: 'locks at', until: 'locked until', both: 'locked', allDay: 'locked all day' },
  manual: {
    locks: 'locked manually from',
    until: 'locked manually until',
    both: 'locked manually',
    allDay: 'locked manually all day',
  },
  opened: { locks: 'opened from', until: 'opened until', both: 'opened', allDay: 'opened all day' },
}

/** What happens on a day: `locked until 07:00; locks at 23:00`. */
export function dayWords({ marks }: WeekDay, zone: string): string {
  const words = marks.map(({ kind, begins, ends }) => {
    const { locks, until, both, allDay } = kindWords[kind]
    if (begins !== undefined && ends !== undefined) return `${both} ${clockIn(begins, zone)} to ${clockIn(ends, zone)}`
    if (begins !== undefined) return `${locks} ${clockIn(begins, zone)}`
    return ends === undefined ? allDay : `${until} ${clockIn(ends, zone)}`
  })
  return words.length === 0 ? 'open' : words.join('; ')
}

/** What stands on a mark of the week: `until 07:00`, `from 18:00`, `13:10–14:25`, `all day`. */
export function markWords({ begins, ends }: WeekMark, zone: string): string {
  if (begins !== undefined && ends !== undefined) return `${clockIn(begins, zone)}–${clockIn(ends, zone)}`
  if (begins !== undefined) return `from ${clockIn(begins, zone)}`
  return ends === undefined ? 'all day' : `until ${clockIn(ends, zone)}`
}
