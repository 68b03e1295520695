import { parseArgs } from 'node:util'
import { Temporal } from 'temporal-polyfill'
import { exitCodes } from '../../contract/exit-codes.ts'
import { isTimeZone } from '../../contract/fields.ts'
import { isLockedAt, type LockdownSchedule, type Transition, transitionsAfter } from './lockdown-times.ts'
import { findScheduleWarning, renderWeekMinute, renderWindow } from './lockdown-window.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'

export type Explanation = { readonly exitCode: 0 | 2 | 78; readonly output: string; readonly complaint: string }

type Question = {
  readonly text: string
  readonly timeZone: string
  readonly instants: readonly string[]
  readonly json: boolean
}

const usage = 'usage: npm run schedule -- "<schedule>" [--timezone <IANA name>] [--at <instant>]... [--json]'
const shownTransitions = 10

/** Says what a schedule means: its windows, its next changes after `now`, and whether it locks at the instants asked for. */
export function explainSchedule(args: readonly string[], now: Date): Explanation {
  const question = readQuestion(args)
  if (typeof question === 'string') return { exitCode: exitCodes.usage, output: '', complaint: `${question}\n${usage}` }
  const { text, timeZone } = question
  if (!isTimeZone(timeZone))
    return unreadable(`LOCKDOWN_TIMEZONE: ${JSON.stringify(timeZone)} is not an IANA time zone`)
  const windows = parseLockdownSchedule(text)
  if ('issue' in windows) return unreadable(`LOCKDOWN_SCHEDULE: ${windows.issue}`)
  const warning = findScheduleWarning(windows)
  return {
    exitCode: 0,
    output: render({ windows, timeZone }, question, now),
    complaint: warning ? `warning: LOCKDOWN_SCHEDULE ${warning}` : '',
  }
}

const unreadable = (complaint: string): Explanation => ({ exitCode: 78, output: '', complaint })

/** @returns the question, or what is wrong with it */
function readQuestion(args: readonly string[]): Question | string {
  try {
    const { values, positionals } = parseArgs({
      args: withScheduleLast(args),
      allowPositionals: true,
      options: { timezone: { type: 'string' }, at: { type: 'string', multiple: true }, json: { type: 'boolean' } },
    })
    const [text, ...more] = positionals
    if (text === undefined || more.length > 0) return 'give one schedule, in quotes'
    const instants = values.at ?? []
    const unreadable = instants.find((instant) => instantOf(instant) === undefined)
    if (unreadable !== undefined) return `--at ${unreadable}: must be an instant such as 2026-11-20T17:00:00Z`
    return { text, timeZone: values.timezone ?? 'UTC', instants, json: values.json ?? false }
  } catch (error) {
    if (error instanceof TypeError) return error.message // what parseArgs throws for a flag it does not know
    throw error
  }
}

/** A schedule that begins with its hyphen is unreadable, and no flag. */
function withScheduleLast(args: readonly string[]): string[] {
  const [first, ...others] = args
  return first !== undefined && /^-(?!-\w)/.test(first) ? [...others, '--', first] : [...args]
}

/** Only a text that says how far it is from UTC is an instant. */
function instantOf(text: string): Date | undefined {
  try {
    return new Date(Temporal.Instant.from(text).epochMilliseconds)
  } catch {
    return undefined
  }
}

function render(schedule: LockdownSchedule, { instants, json }: Question, now: Date): string {
  const transitions = transitionsAfter(schedule, now, shownTransitions)
  const at = instants.map((instant) => ({ instant, locked: isLockedAt(schedule, instantOf(instant) ?? now) }))
  if (json) {
    const windows = schedule.windows.map(({ start, end }) => ({
      from: renderWeekMinute(start),
      to: renderWeekMinute(end),
    }))
    return JSON.stringify({ windows, transitions, at })
  }
  return [
    schedule.windows.length === 0
      ? 'no windows: nothing is ever locked'
      : `windows, by the clock of ${schedule.timeZone}:`,
    ...schedule.windows.map((window) => `  ${renderWindow(window)}`),
    ...(transitions.length > 0 ? ['next changes:'] : []),
    ...transitions.map((transition) => `  ${renderTransition(transition, schedule.timeZone)}`),
    ...at.map(({ instant, locked }) => `${instant}: ${locked ? 'locked' : 'open'}`),
  ].join('\n')
}

function renderTransition({ at, locked }: Transition, timeZone: string): string {
  const local = at.toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' })
  return `${at.toISOString()} ${locked ? 'locks' : 'opens'} (${local})`
}
