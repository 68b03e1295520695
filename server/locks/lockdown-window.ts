/**
 * A recurring time in which new tasks are refused, in minutes since Monday 00:00 on the wall clock (0 to 10 079). The
 * start minute is inside, the end minute outside. An end before the start goes round the end of the week.
 */
export type LockdownWindow = { readonly start: number; readonly end: number }

/** A part of the week that does not go round its end, so that `end` may be 10 080. */
export type WeekSpan = LockdownWindow

export const daysOfWeek: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
export const minutesOfDay = 24 * 60
const minutesOfWeek = 7 * minutesOfDay

type NumberedSpan = WeekSpan & { readonly window: number }

/** The spans of all windows by their start, each with the number of its window, counted from 1. */
const spansOf = (windows: readonly LockdownWindow[]): NumberedSpan[] =>
  windows
    .flatMap(({ start, end }, index) => {
      const window = index + 1
      if (start < end) return [{ start, end, window }]
      const upToTheEnd = { start, end: minutesOfWeek, window }
      return end === 0 ? [upToTheEnd] : [upToTheEnd, { start: 0, end, window }]
    })
    .sort((a, b) => a.start - b.start)

/** What the windows cover together, in order; those that overlap or touch become one. */
export function mergeWindows(windows: readonly LockdownWindow[]): readonly WeekSpan[] {
  const merged: { start: number; end: number }[] = []
  for (const { start, end } of spansOf(windows)) {
    const last = merged.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else merged.push({ start, end })
  }
  return merged
}

/** What is allowed but probably not meant, or undefined. Touching windows are nothing unusual. */
export function findScheduleWarning(windows: readonly LockdownWindow[]): string | undefined {
  const [first] = mergeWindows(windows)
  if (first?.start === 0 && first.end === minutesOfWeek) return 'locks the whole week: no task is ever accepted'
  let furthest: NumberedSpan | undefined
  for (const span of spansOf(windows)) {
    if (furthest && span.start < furthest.end)
      return `has overlapping windows: ${[furthest, span].map(numberOf).sort(byNumber).join(' and ')}`
    furthest = span
  }
  return undefined
}

const numberOf = ({ window }: NumberedSpan) => window
const byNumber = (a: number, b: number) => a - b

/** As it is written in a schedule. */
export const renderWindow = ({ start, end }: LockdownWindow) => `${renderWeekMinute(start)} - ${renderWeekMinute(end)}`

export function renderWeekMinute(minute: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const ofDay = minute % minutesOfDay
  return `${daysOfWeek[Math.floor(minute / minutesOfDay) % 7]} ${twoDigits(Math.floor(ofDay / 60))}:${twoDigits(ofDay % 60)}`
}
