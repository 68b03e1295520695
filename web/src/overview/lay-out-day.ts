import type { History, HistoryMark } from '../../../contract/history.ts'
import { duration } from '../ui/duration.ts'
import { clockIn, zoneLabel } from '../ui/zoned-time.ts'

/** The day in Unix seconds: 23 or 25 hours long on days of a clock change. */
export type Day = { readonly from: number; readonly to: number }

/** Where a moment is on the day's line, in percent of its width. */
export const placeOn = ({ from, to }: Day, at: number): number =>
  Math.min(100, Math.max(0, Math.round(((at - from) / (to - from)) * 10_000) / 100))

const momentAt = ({ from, to }: Day, place: number) => from + ((to - from) * place) / 100

type ClockMark = {
  readonly place: number
  readonly words: string /** On a phone there is no room beside `now`. */
  readonly isTight: boolean
}

/** Clock times below the line: each quarter of the day, unless it is where `now` is written. */
export function clockMarks(day: Day, now: number, zone: string, own: string): readonly ClockMark[] {
  const nowAt = placeOn(day, now)
  return [0, 25, 50, 75, 100]
    .filter((place) => Math.abs(place - nowAt) > 5)
    .map((place) => ({
      place,
      isTight: Math.abs(place - nowAt) < 15,
      words: `${place === 100 ? '24:00' : clockIn(momentAt(day, place), zone)}${zoneLabel(momentAt(day, place), zone, own)}`,
    }))
}

/** The strip in a sentence, for the ear. */
export function describeDay(
  { counts }: History['total'],
  marks: readonly HistoryMark[],
  rollingOut: number,
  lockedSeconds: number,
  zone: string,
): string {
  const bad = marks.filter(({ status }) => status !== 'deployed').slice(-5)
  const parts = [
    `${counts.deployed ?? 0} deployed`,
    `${counts.failed ?? 0} failed`,
    `${counts.aborted ?? 0} aborted`,
    `${rollingOut} in progress`,
  ]
  const last = bad.map(({ app, status, ended }) => `${app} ${status} at ${clockIn(ended, zone)}`)
  return [
    `Deployments today by time of day, ${zone}: ${parts.join(', ')}.`,
    last.length === 0 ? '' : `Last: ${last.join(', ')}.`,
    lockedSeconds < 60 ? '' : `Deployments are locked for ${duration(lockedSeconds)} of the day.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}
