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
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <Section
      title="Why deployments failed"
      id="causes"
      note={figure(bad)}
      end={<span className="dim">{days} days</span>}
    >
      {bad === 0 ? <p className="why">None failed.</p> : null}
      <ul className="bars">
        {bars.map(({ cause, count }) => (
          <li key={cause ?? 'other'}>
            <span>
              {cause !== undefined && isCause(cause) ? (
                <Link className="quiet" href={listAddress({ ...filters, cause })}>
                  {causeOf(cause).headline}
                </Link>
              ) : (
                'Other'
              )}{' '}
              {cause === undefined ? null : <code className="dim">{cause}</code>}
            </span>
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect className="cause-bar" width={(count / most) * 100} height="10" />
            </svg>
            <span className="num">{figure(count)}</span>
          </li>
        ))}
      </ul>
    </Section>
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
