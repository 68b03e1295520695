import { Temporal } from 'temporal-polyfill' // is the built-in one where there is one

/** From inside, to outside. */
export type Span = { readonly from: Date; readonly to: Date }

export type HistoryRange = {
  /** Days of the time zone, the last one today. A day of a clock change has 23 or 25 hours. */
  readonly days: readonly (Span & { readonly day: string })[]
  /** From the first day until now. */
  readonly total: Span
  /** It begins as many days earlier, and is as long. */
  readonly before: Span
}

/** The days that a history of some days tells of. */
export function historyRange(count: number, timeZone: string, now: Date): HistoryRange {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate()
  const begins = (daysAgo: number) =>
    new Date(today.subtract({ days: daysAgo }).toZonedDateTime(timeZone).epochMilliseconds)
  const days = Array.from({ length: count }, (_, index) => {
    const daysAgo = count - 1 - index
    return { day: today.subtract({ days: daysAgo }).toString(), from: begins(daysAgo), to: begins(daysAgo - 1) }
  })
  const [from, earlier] = [begins(count - 1), begins(2 * count - 1)]
  const lastMs = Math.min(earlier.getTime() + now.getTime() - from.getTime(), from.getTime())
  return { days, total: { from, to: now }, before: { from: earlier, to: new Date(lastMs) } }
}
