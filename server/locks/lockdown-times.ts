import { Temporal } from 'temporal-polyfill' // is the built-in one where there is one
import { type LockdownWindow, mergeWindows, type WeekSpan } from './lockdown-window.ts'

/** Lockdown windows and the IANA time zone whose wall clock they are written in. */
export type LockdownSchedule = { readonly windows: readonly LockdownWindow[]; readonly timeZone: string }

/** From inside, to outside. */
export type Interval = { readonly from: Date; readonly to: Date }

export type Transition = { readonly at: Date; readonly locked: boolean }

/** A time in which the wall clock runs at one distance from UTC. */
type Stretch = { readonly fromMs: number; readonly toMs: number; readonly offsetMs: number }

const minuteMs = 60_000
const weekMs = 7 * 24 * 60 * minuteMs
const someMondayMs = Date.UTC(1970, 0, 5)

/** Whether the wall clock of the schedule's time zone is in a window. */
export function isLockedAt({ windows, timeZone }: LockdownSchedule, instant: Date): boolean {
  const localMs = instant.getTime() + offsetMsOf(zonedAt(timeZone, instant.getTime()))
  const weekMinute = Math.floor(modulo(localMs - someMondayMs, weekMs) / minuteMs)
  return mergeWindows(windows).some(({ start, end }) => weekMinute >= start && weekMinute < end)
}

/**
 * When the schedule locks within a range of time, in order; what touches is one interval, and what reaches over the
 * range is cut at its end.
 *
 * Between two changes of the clock the windows lie on the line of time as on the wall clock. So a skipped wall-clock
 * minute never comes and a repeated one counts both times, without a rule of its own.
 */
export function closedIntervals({ windows, timeZone }: LockdownSchedule, from: Date, to: Date): readonly Interval[] {
  const spans = mergeWindows(windows)
  const merged: { fromMs: number; toMs: number }[] = []
  for (const stretch of spans.length === 0 ? [] : stretches(timeZone, from.getTime(), to.getTime())) {
    for (const { fromMs, toMs } of closedDuring(stretch, spans)) {
      const last = merged.at(-1)
      if (last?.toMs === fromMs) last.toMs = toMs
      else merged.push({ fromMs, toMs })
    }
  }
  return merged.map(({ fromMs, toMs }) => ({ from: new Date(fromMs), to: new Date(toMs) }))
}

/** The next changes after an instant, in order; none where the schedule locks never or always. */
export function transitionsAfter(schedule: LockdownSchedule, after: Date, count: number): readonly Transition[] {
  // A schedule changes twice a week at least; the clock may swallow a short window, but not in two weeks running.
  const horizon = new Date(after.getTime() + (count + 3) * weekMs)
  return closedIntervals(schedule, after, horizon)
    .flatMap(({ from, to }) => [
      { at: from, locked: true },
      { at: to, locked: false },
    ])
    .filter(({ at }) => at > after && at < horizon)
    .slice(0, count)
}

function* stretches(timeZone: string, fromMs: number, toMs: number): Generator<Stretch> {
  for (let startMs = fromMs; startMs < toMs; ) {
    const start = zonedAt(timeZone, startMs)
    const change = start.getTimeZoneTransition('next')?.epochMilliseconds ?? toMs
    const endMs = Math.min(change, toMs)
    yield { fromMs: startMs, toMs: endMs, offsetMs: offsetMsOf(start) }
    startMs = endMs
  }
}

function* closedDuring({ fromMs, toMs, offsetMs }: Stretch, spans: readonly WeekSpan[]) {
  const firstMondayMs = fromMs - modulo(fromMs + offsetMs - someMondayMs, weekMs)
  for (let mondayMs = firstMondayMs; mondayMs < toMs; mondayMs += weekMs) {
    for (const { start, end } of spans) {
      const closed = {
        fromMs: Math.max(fromMs, mondayMs + start * minuteMs),
        toMs: Math.min(toMs, mondayMs + end * minuteMs),
      }
      if (closed.fromMs < closed.toMs) yield closed
    }
  }
}

const zonedAt = (timeZone: string, epochMs: number) =>
  Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone)

const offsetMsOf = ({ offsetNanoseconds }: Temporal.ZonedDateTime) => offsetNanoseconds / 1_000_000

/** Never negative, unlike `%`. */
const modulo = (value: number, divisor: number) => ((value % divisor) + divisor) % divisor
