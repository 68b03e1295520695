import type { History } from '../../../contract/history.ts'
import { duration } from '../ui/duration.ts'
import { noBreak } from '../ui/figure.ts'
import { badOf, decidedOf, deployedOf, growth, perDay, pointsBetween } from './figures.ts'

/** `against` the period before; undefined where it cannot be compared. */
export type FourFigure = { readonly name: string; readonly value: string; readonly against: string | undefined }

/** The four figures by which deliveries are compared everywhere. */
export function fourFigures({
  total,
  before,
  days,
}: Pick<History, 'total' | 'before' | 'days'>): readonly FourFigure[] {
  const [rate, rateBefore] = [failureRate(total.counts), failureRate(before.counts)]
  return [
    {
      name: 'Deploy frequency',
      value: `${perDay(deployedOf(total.counts), days)} a day`,
      against: growth(deployedOf(total.counts), deployedOf(before.counts)),
    },
    ofSeconds('Lead time', total.lead_time, before.lead_time),
    {
      name: 'Change failure rate',
      value: rate === undefined ? 'not known' : `${(Math.ceil(rate * 1_000) / 10).toFixed(1)}${noBreak}%`,
      against: pointsBetween(rate, rateBefore),
    },
    ofSeconds('Time to restore', total.restore, before.restore),
  ]
}

type Median = { readonly median_seconds: number } | undefined

const ofSeconds = (name: string, now: Median, before: Median): FourFigure => ({
  name,
  value: now === undefined ? 'not known' : duration(now.median_seconds),
  against: now === undefined ? undefined : growth(now.median_seconds, before?.median_seconds ?? 0),
})

/** The share of deployments with an outcome that failed. */
function failureRate(counts: History['total']['counts']): number | undefined {
  const decided = decidedOf(counts)
  return decided === 0 ? undefined : badOf(counts) / decided
}
