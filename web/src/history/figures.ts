import type { History, HistoryDay, HistoryPeriod } from '../../../contract/history.ts'
import { duration } from '../ui/duration.ts'
import { figure, noBreak } from '../ui/figure.ts'

type Counts = HistoryPeriod['counts']

export const deployedOf = ({ deployed = 0 }: Counts): number => deployed
/** Tasks that did not work. */
export const badOf = ({ failed = 0, aborted = 0 }: Counts): number => failed + aborted
/** Tasks with an outcome: cancelled ones and those of unknown applications have none. */
export const decidedOf = (counts: Counts): number => deployedOf(counts) + badOf(counts)

/** The share of those with an outcome that were deployed; undefined where there is none. */
export function successRate(counts: Counts): number | undefined {
  const decided = decidedOf(counts)
  return decided === 0 ? undefined : deployedOf(counts) / decided
}

/** "96.0 %", and never 100 % while one failed. */
export const percent = (share: number): string => `${(Math.floor(share * 1_000) / 10).toFixed(1)}${noBreak}%`

/** "0.4", "1,234": with a decimal where there are few. */
export const perDay = (count: number, days: number): string =>
  (count / days).toLocaleString('en', { maximumFractionDigits: count / days < 10 ? 1 : 0 })

const rateWindowDays = 7

/** For each day the success rate of the seven days up to it, as far as they are known; null where nothing was decided. */
export const rollingRates = (days: readonly HistoryDay[]): readonly (number | null)[] =>
  days.map((_, index) => {
    const window = days.slice(Math.max(0, index - rateWindowDays + 1), index + 1)
    return successRate(sumOf(window)) ?? null
  })

const sumOf = (days: readonly HistoryDay[]): Counts => ({
  deployed: days.reduce((sum, { counts }) => sum + deployedOf(counts), 0),
  failed: days.reduce((sum, { counts }) => sum + badOf(counts), 0),
})

const fewest = 3

/** The day on which the most failed, where that is far above the rest; undefined where no day stands out. */
export function oddDay(days: readonly HistoryDay[]): HistoryDay | undefined {
  const worst = days.toSorted((a, b) => badOf(b.counts) - badOf(a.counts))[0]
  if (worst === undefined || badOf(worst.counts) < fewest) return undefined
  const others = days.filter((day) => day !== worst && decidedOf(day.counts) > 0)
  const usual = others.reduce((sum, { counts }) => sum + badOf(counts), 0) / (others.length || 1)
  return badOf(worst.counts) >= 2 * usual ? worst : undefined
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

/** "29 October", of a date as the API writes it. */
export function dayInWords(day: string): string {
  const [, month = 1, date] = day.split('-').map(Number)
  return `${date}${noBreak}${months[month - 1]}`
}

/** "29 Oct" */
export const shortDay = (day: string): string => {
  const [date, month = ''] = dayInWords(day).split(noBreak)
  return `${date}${noBreak}${month.slice(0, 3)}`
}

/** "1,158 deployments in 30 days. 96.0 % succeeded, half of them within 1 min 49 s. 29 October stands out: 14 of 72 failed." */
export function historySentence({ total, days, by_day: byDay }: Pick<History, 'total' | 'days' | 'by_day'>): string {
  const decided = decidedOf(total.counts)
  const rate = successRate(total.counts)
  if (rate === undefined) return `No deployment ended in these ${days} days.`
  const median =
    total.durations === undefined ? '' : `, half of them within ${duration(total.durations.median_seconds)}`
  const odd = oddDay(byDay)
  const stands =
    odd === undefined
      ? ''
      : ` ${dayInWords(odd.day)} stands out: ${badOf(odd.counts)} of ${decidedOf(odd.counts)} did not work.`
  const amount = `${figure(decided)} ${decided === 1 ? 'deployment' : 'deployments'} in ${days} days.`
  return `${amount} ${percent(rate)} succeeded${median}.${stands}`
}

/** "+ 9 %", against the period before; undefined where that had none. */
export function growth(now: number, before: number): string | undefined {
  if (before === 0) return undefined
  return signed(Math.round((now / before - 1) * 100), `${noBreak}%`)
}

/** "+ 0.8 points", between two success rates. */
export function pointsBetween(now: number | undefined, before: number | undefined): string | undefined {
  if (now === undefined || before === undefined) return undefined
  return signed(Math.round((now - before) * 1_000) / 10, ' points')
}

function signed(value: number, unit: string): string {
  if (value === 0) return `as before`
  return `${value > 0 ? '+' : '−'}${noBreak}${figure(Math.abs(value))}${unit}`
}
