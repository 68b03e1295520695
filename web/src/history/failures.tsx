import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { causeOf, isCause } from '../../../contract/causes.ts'
import type { History } from '../../../contract/history.ts'
import { listAddress, type TaskFilters } from '../deployments/task-filters.ts'
import { duration } from '../ui/duration.ts'
import { figure } from '../ui/figure.ts'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { badOf, decidedOf } from './figures.ts'

type Props = {
  history: History
  /** Of the lists that these lead to: the period and what the page is narrowed to. */
  filters: TaskFilters
}

/** Why deployments did not work, the most frequent cause first; each leads to its tasks. */
export function CauseBars({ history: { causes, total, days }, filters }: Props) {
  const bad = badOf(total.counts)
  const other = bad - causes.reduce((sum, { count }) => sum + count, 0)
  const bars = [...causes, ...(other > 0 ? [{ cause: undefined, count: other }] : [])]
  return (
    <Section
      title="Why deployments failed"
      id="causes"
      note={figure(bad)}
      end={<span className="dim">{days} days</span>}
    >
      {bad === 0 ? <p className="why">None failed.</p> : null}
      <Bars bars={bars} nameOf={(cause) => <CauseName cause={cause} filters={filters} />} />
    </Section>
  )
}

/** What deployments were rolled back for; nothing where none was. */
export function Rollbacks({ history: { total, days } }: Pick<Props, 'history'>) {
  const count = total.rollbacks.reduce((sum, one) => sum + one.count, 0)
  if (count === 0) return null
  return (
    <Section title="Rollbacks" id="rollbacks" note={figure(count)} end={<span className="dim">{days} days</span>}>
      <p className="why">By what had become of the deployment before. Each counts as a deployment.</p>
      <Bars
        bars={total.rollbacks}
        nameOf={(cause) => (cause === undefined ? 'It had been deployed' : <CauseName cause={cause} />)}
      />
    </Section>
  )
}

type Bar = { readonly cause?: string | undefined; readonly count: number }

function Bars({ bars, nameOf }: { bars: readonly Bar[]; nameOf: (cause: string | undefined) => ReactNode }) {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <ul className="bars">
      {bars.map(({ cause, count }) => (
        <li key={cause ?? 'other'}>
          <span>
            {nameOf(cause)} {cause === undefined ? null : <code className="dim">{cause}</code>}
          </span>
          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect className="cause-bar" width={(count / most) * 100} height="10" />
          </svg>
          <span className="num">{figure(count)}</span>
        </li>
      ))}
    </ul>
  )
}

/** With `filters` it leads to its tasks. */
function CauseName({ cause, filters }: { cause: string | undefined; filters?: TaskFilters }) {
  if (cause === undefined || !isCause(cause)) return 'Other'
  const { headline } = causeOf(cause)
  if (filters === undefined) return headline
  return (
    <Link className="quiet" href={listAddress({ ...filters, cause })}>
      {headline}
    </Link>
  )
}

const columns = [
  { name: 'Application' },
  { name: 'Deployments', isNumber: true },
  { name: 'Failed', isNumber: true },
  { name: 'Median', isNumber: true },
]

/** The applications with the most failed and aborted tasks; each leads to its tasks. */
export function FailingApps({ history: { most_failing: apps }, filters }: Props) {
  return (
    <Section title="Applications that fail most" id="failing" end={<Link href="/?apps=all">All applications</Link>}>
      {apps.length === 0 ? (
        <p className="why">None failed.</p>
      ) : (
        <Table label="Applications that fail most" className="" columns={columns}>
          {apps.map(({ app, counts, median_seconds: median }) => (
            <Row key={app}>
              <RowHead className="full">
                <Link className="name quiet" href={listAddress({ ...filters, app })}>
                  {app}
                </Link>
              </RowHead>
              <Cell className="num" data-label="Deployments">
                {figure(decidedOf(counts))}
              </Cell>
              <Cell className="num" data-label="Failed">
                {figure(badOf(counts))}
              </Cell>
              <Cell className="num nowrap push" data-label="Median">
                {median === undefined ? '–' : duration(median)}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
    </Section>
  )
}
