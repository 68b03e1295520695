import type { History } from '../../../contract/history.ts'
import { duration } from '../ui/duration.ts'
import { noBreak } from '../ui/figure.ts'
import { growth, perDay, pointsBetween } from './figures.ts'

/** `against` the period before; undefined where it cannot be compared. */
export type FourFigure = { readonly name: string; readonly value: string; readonly against: string | undefined }

/** The four figures by which deliveries are compared everywhere. */
export function fourFigures({ total, before }: Pick<History, 'total' | 'before'>): readonly FourFigure[] {
  const rate = total.change_failure_rate
  return [
    {
      name: 'Deploy frequency',
      value: frequencyWords(total.deploy_frequency),
      against: growth(total.deploy_frequency, before.deploy_frequency),
    },
    ofSeconds('Lead time', total.lead_time, before.lead_time),
    {
      name: 'Change failure rate',
      value: rate === undefined ? 'not known' : `${(Math.ceil(rate * 1_000) / 10).toFixed(1)}${noBreak}%`,
      against: pointsBetween(rate, before.change_failure_rate),
    },
    ofSeconds('Time to restore', total.time_to_restore, before.time_to_restore),
  ]
}

const weekDays = 7

/** "3.2 a day", "0.5 a week" */
const frequencyWords = (aDay: number): string =>
  aDay === 0 || aDay >= 1 ? `${perDay(aDay, 1)} a day` : `${perDay(aDay * weekDays, 1)} a week`

type Median = { readonly median_seconds: number } | undefined

const ofSeconds = (name: string, now: Median, before: Median): FourFigure => ({
  name,
  value: now === undefined ? 'not known' : duration(now.median_seconds),
  against: now === undefined ? undefined : growth(now.median_seconds, before?.median_seconds ?? 0),
})
