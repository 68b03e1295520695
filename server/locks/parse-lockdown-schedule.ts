import { quote } from '../../contract/fields.ts'
import { daysOfWeek, type LockdownWindow, minutesOfDay } from './lockdown-window.ts'

/** What is wrong with the first window that cannot be read, naming the window and the rule it breaks. */
type ScheduleIssue = { readonly issue: string }

/** To be seen nowhere, and a blank for `trim`. */
const byteOrderMark = '\u{feff}'
const form = 'must be <Day> <HH:MM> - <Day> <HH:MM>, such as Fri 17:00 - Mon 08:00'

/**
 * Reads LOCKDOWN_SCHEDULE, such as `Wed 20:00 - Thu 08:00, Fri 17:00 - Mon 08:00`; a blank one has no windows.
 *
 * Spaces, tabs and line ends are free around windows, and within them spaces and tabs around hyphens. Every step looks at each character once, whatever the text.
 * Source: spec 2.4. What is refused there and why: decision 0003.
 */
export function parseLockdownSchedule(text: string): ScheduleIssue | readonly LockdownWindow[] {
  if (text.includes(byteOrderMark)) return { issue: 'has a byte order mark: save the text as UTF-8 without one' }
  if (text.trim() === '') return []
  const windows: LockdownWindow[] = []
  for (const [index, entry] of text
    .split(',')
    .map((one) => one.trim())
    .entries()) {
    const window = parseWindow(entry)
    if ('issue' in window) return { issue: `window ${index + 1} (${quote(entry)}) ${window.issue}` }
    windows.push(window)
  }
  return windows
}

function parseWindow(entry: string): ScheduleIssue | LockdownWindow {
  if (entry === '') return { issue: 'is empty: remove a comma' }
  const sides = entry.split('-', 3)
  const [from = [], to = []] = sides.map((side) => side.match(/[^ \t]+/g) ?? [])
  if (sides.length !== 2 || from.length !== 2 || to.length !== 2) return { issue: form }
  const start = parsePoint(from)
  if (typeof start === 'object') return start
  const end = parsePoint(to)
  if (typeof end === 'object') return end
  return checkOrder({ start, end })
}

/** @returns the minute of the week */
function parsePoint([day = '', time = '']: readonly string[]): ScheduleIssue | number {
  const dayIndex = daysOfWeek.indexOf(day)
  if (dayIndex < 0) return { issue: `has an unknown day ${quote(day)}: use ${daysOfWeek.join(', ')}` }
  const [, hour, minute] = /^([0-9]{2}):([0-9]{2})$/.exec(time) ?? []
  if (hour === undefined || minute === undefined) return { issue: `has the time ${quote(time)}: time must be HH:MM` }
  if (Number(hour) > 23) return { issue: `has the time ${quote(time)}: hour must be 00 to 23` }
  if (Number(minute) > 59) return { issue: `has the time ${quote(time)}: minute must be 00 to 59` }
  return dayIndex * minutesOfDay + Number(hour) * 60 + Number(minute)
}

/** On one day an end before the start could mean overnight or nearly the whole week, and the same minute never or always. */
function checkOrder(window: LockdownWindow): ScheduleIssue | LockdownWindow {
  const { start, end } = window
  if (start === end) return { issue: 'starts and ends at the same minute, which could mean never or always' }
  const isOnOneDay = Math.floor(start / minutesOfDay) === Math.floor(end / minutesOfDay)
  if (isOnOneDay && end < start) return { issue: 'ends before it starts; write two windows' }
  return window
}
