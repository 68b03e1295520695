import { useId } from 'react'
import { Link, useLocation } from 'wouter'
import type { History, HistoryDay } from '../../../contract/history.ts'
import type { TaskFilters } from '../deployments/task-filters.ts'
import { listAddress } from '../deployments/task-filters.ts'
import type { LockedRange } from '../locks/next-changes.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { duration } from '../ui/duration.ts'
import { figure, noBreak } from '../ui/figure.ts'
import { dayInWords, deployedOf, percent, perDay, rollingRates, shortDay, successRate } from './figures.ts'
import { DayTable, HistoryFigure, type Key, type Value } from './history-figure.tsx'
import { Plot } from './plot.tsx'
import { countTicks, durationTicks, lockedFields, partAt, shareTicks, stackedStatuses, stackTops } from './plot-data.ts'

type Props = {
  history: History
  locked: readonly LockedRange[]
  /** What the page is narrowed to: the lists that the charts lead to are narrowed alike. */
  filters: TaskFilters
  zone: string
}

const lockedKey: Key = { name: 'locked', look: 'shade' }
const given = (values: readonly (Value | undefined)[]): readonly Value[] =>
  values.filter((value) => value !== undefined)
const newestFirst = (days: readonly HistoryDay[]) => days.toReversed()
const nameOf = ({ day }: HistoryDay) => shortDay(day)

export function DeploymentsChart({ history: { by_day: days, total, days: count }, locked, filters, zone }: Props) {
  const [, navigate] = useLocation()
  const ofDay = (day: HistoryDay, status: string) =>
    listAddress({ ...filters, status, ended_from: String(day.from), ended_to: String(day.to) })
  const tops = stackTops(days)
  const colours = ['--deployed-mark', '--failed-mark', '--aborted-mark'] as const
  return (
    <HistoryFigure
      title="Deployments a day"
      keys={[
        { name: 'deployed', look: 'bar-ok' },
        { name: 'failed', look: 'bar-bad' },
        { name: 'aborted', look: 'bar-lost' },
        lockedKey,
      ]}
      values={[
        { name: 'Deployed', value: figure(deployedOf(total.counts)) },
        { name: 'A day', value: perDay(deployedOf(total.counts), count) },
      ]}
      definition={`By the day of the verdict, without cancelled ones. Days are ${zone}. A bar leads to its deployments.`}
      table={
        <DayTable
          label="Deployments a day"
          columns={['Deployed', 'Failed', 'Aborted', 'Locked']}
          rows={newestFirst(days)}
          name={nameOf}
          cells={(day) => [
            ...stackedStatuses.map((status) => (
              <CountLink count={day.counts[status] ?? 0} to={ofDay(day, status)} key={status} />
            )),
            day.locked_seconds < 1 ? '' : duration(day.locked_seconds),
          ]}
        />
      }
    >
      <Plot
        label={`Deployments a day over ${count} days: ${figure(deployedOf(total.counts))} deployed, ${total.counts.failed ?? 0} failed, ${total.counts.aborted ?? 0} aborted.`}
        days={days}
        bars={tops.map((values, index) => ({
          colour: colours[index] ?? '--ink-3',
          tops: values.map((top) => (top === 0 ? null : top)),
        }))}
        ticks={countTicks(Math.max(0, ...(tops.at(-1) ?? [])))}
        tickWords={figure}
        fields={lockedFields(days, locked)}
        titleOf={(day) =>
          `${dayInWords(day.day)}: ${deployedOf(day.counts)} deployed, ${day.counts.failed ?? 0} failed, ${day.counts.aborted ?? 0} aborted`
        }
        onPick={(day, height) => {
          const status = partAt(day, height)
          if (status !== undefined) navigate(ofDay(day, status))
        }}
      />
    </HistoryFigure>
  )
}

const CountLink = ({ count, to }: { count: number; to: string }) =>
  count === 0 ? '0' : <Link href={to}>{figure(count)}</Link>

const rateWindowDays = 7

export function SuccessChart({ history: { by_day: days, total, days: count }, locked }: Props) {
  const rates = rollingRates(days)
  const known = rates.filter((rate) => rate !== null)
  const [now, all] = [rates.at(-1) ?? undefined, successRate(total.counts)]
  const ticks = shareTicks(Math.min(1, ...known))
  const from = Math.round((ticks[0] ?? 0) * 100)
  return (
    <HistoryFigure
      title="Success rate"
      keys={[{ name: '7-day average', look: 'l1' }, lockedKey]}
      values={given([
        now === undefined ? undefined : { name: 'Last seven days', value: percent(now) },
        all === undefined || count === rateWindowDays ? undefined : { name: `${count} days`, value: percent(all) },
      ])}
      definition={`Share that worked, 7-day average.${from === 0 ? '' : ` Axis from ${from}${noBreak}%.`}`}
      table={
        <DayTable
          label="Success rate"
          columns={['Seven days to date', 'Of the day']}
          rows={newestFirst(days)}
          name={nameOf}
          cells={(day) => [shareWords(rates[days.indexOf(day)]), shareWords(successRate(day.counts))]}
        />
      }
    >
      <Plot
        label={
          known.length === 0
            ? 'Success rate: no deployment ended.'
            : `Success rate over seven days to date, between ${percent(Math.min(...known))} and ${percent(Math.max(...known))}.`
        }
        days={days}
        lines={[rates]}
        ticks={ticks}
        tickWords={(share) => `${Math.round(share * 100)}${noBreak}%`}
        fields={lockedFields(days, locked)}
        titleOf={(day) => `${dayInWords(day.day)}: ${shareWords(rates[days.indexOf(day)]) || 'nothing ended'}`}
      />
    </HistoryFigure>
  )
}

const shareWords = (share: number | null | undefined) => (share === null || share === undefined ? '' : percent(share))
const durationWords = (seconds: number | undefined) => (seconds === undefined ? '' : duration(seconds))

/** On an axis: whole units where they fit. */
const durationTick = (seconds: number) => (seconds === 0 ? '0' : duration(seconds))

export function DurationChart({ history: { by_day: days, total }, locked }: Props) {
  const lines = (['median_seconds', 'p95_seconds', 'p99_seconds'] as const).map((name) =>
    days.map(({ durations }) => durations?.[name] ?? null),
  )
  const { median_seconds: half, p95_seconds: most, p99_seconds: nearly } = total.durations ?? {}
  return (
    <HistoryFigure
      title="How long it takes"
      keys={[
        { name: 'half within', look: 'l1' },
        { name: '95 of 100 within', look: 'l2' },
        { name: '99 of 100 within', look: 'l3' },
      ]}
      values={given([
        withDuration('Half within', half),
        withDuration('95 of 100', most),
        withDuration('99 of 100', nearly),
      ])}
      definition="From accepted to deployed, by day. No line where nothing was deployed."
      table={
        <DayTable
          label="How long it takes"
          columns={['Half', '95 of 100', '99 of 100']}
          rows={newestFirst(days)}
          name={nameOf}
          cells={({ durations }) => [
            durationWords(durations?.median_seconds),
            durationWords(durations?.p95_seconds),
            durationWords(durations?.p99_seconds),
          ]}
        />
      }
    >
      <Plot
        label={
          half === undefined
            ? 'How long it takes: nothing was deployed.'
            : `Time from accepted to deployed by day. Half within ${duration(half)}, 95 of 100 within ${durationWords(most)}, 99 of 100 within ${durationWords(nearly)}.`
        }
        days={days}
        lines={lines}
        ticks={durationTicks(largestOf(lines))}
        tickWords={durationTick}
        fields={lockedFields(days, locked)}
        titleOf={({ day, durations }) =>
          `${dayInWords(day)}: ${durations === undefined ? 'nothing deployed' : `half within ${duration(durations.median_seconds)}, 95 of 100 within ${duration(durations.p95_seconds)}`}`
        }
      />
    </HistoryFigure>
  )
}

export function LeadTimeChart({ history: { by_day: days, total }, locked }: Props) {
  const lines = (['median_seconds', 'p75_seconds'] as const).map((name) =>
    days.map(({ lead_time: lead }) => lead?.[name] ?? null),
  )
  if (total.lead_time === undefined) return <NoLeadTime />
  const { median_seconds: half, p75_seconds: most, known } = total.lead_time
  return (
    <HistoryFigure
      title="Lead time"
      keys={[
        { name: 'half within', look: 'l1' },
        { name: '3 of 4 within', look: 'l2' },
      ]}
      values={given([
        withDuration('Half within', half),
        withDuration('3 of 4', most),
        { name: 'Known for', value: figure(known), note: known === 1 ? 'commit' : 'commits' },
      ])}
      definition="From the time of the source commit until it is first deployed. Only deployments that name their source."
      table={
        <DayTable
          label="Lead time"
          columns={['Half', '3 of 4', 'Commits']}
          rows={newestFirst(days)}
          name={nameOf}
          cells={({ lead_time: lead }) => [
            durationWords(lead?.median_seconds),
            durationWords(lead?.p75_seconds),
            figure(lead?.known ?? 0),
          ]}
        />
      }
    >
      <Plot
        label={`Lead time from source commit to deployed by day. Half within ${duration(half)}, three of four within ${durationWords(most)}.`}
        days={days}
        lines={lines}
        ticks={durationTicks(largestOf(lines))}
        tickWords={durationTick}
        fields={lockedFields(days, locked)}
        titleOf={({ day, lead_time: lead }) =>
          `${dayInWords(day)}: ${lead === undefined ? 'not known' : `half within ${duration(lead.median_seconds)}, 3 of 4 within ${duration(lead.p75_seconds)}`}`
        }
      />
    </HistoryFigure>
  )
}

const sourceLines = `"source": { "repository": "https://github.com/acme/shop", "sha": "8f3a2c1d",
            "committed_at": 1795420000 }`

/** What a pipeline sends so that there is one. */
function NoLeadTime() {
  const id = useId()
  return (
    <section className="figure" aria-labelledby={id}>
      <div className="head-s">
        <h2 id={id}>Lead time</h2>
      </div>
      <p>No deployment of these days names its source commit. Send it with each one:</p>
      <div className="copy">
        <code className="code-block">{sourceLines}</code>
        <CopyButton text={sourceLines} label="Copy the lines" size="icon" />
      </div>
    </section>
  )
}

const withDuration = (name: string, seconds: number | undefined): Value | undefined =>
  seconds === undefined ? undefined : { name, value: duration(seconds) }

const largestOf = (lines: readonly (readonly (number | null)[])[]): number =>
  Math.max(0, ...lines.flat().filter((value) => value !== null))
