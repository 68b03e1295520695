import { useId } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { History } from '../../../contract/history.ts'
import { NameFilter } from '../deployments/text-filters.tsx'
import { lockedRanges } from '../locks/next-changes.ts'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { useLockCalendar } from '../locks/read-lock-calendar.ts'
import { AddressIssueNotice } from '../ui/address-issue-notice.tsx'
import { Answered } from '../ui/answered.tsx'
import { Delayed } from '../ui/delayed.tsx'
import { Icon } from '../ui/icon.tsx'
import { useTab } from '../ui/tab.ts'
import { useTimeZone } from '../ui/time-zone.ts'
import { CauseBars, FailingApps, Rollbacks } from './failures.tsx'
import { decidedOf, historySentence } from './figures.ts'
import { fourFigures } from './four-figures.ts'
import { DeploymentsChart, DurationChart, LeadTimeChart, SuccessChart } from './history-charts.tsx'
import { type HistoryAddress, historyAddress, historyRanges, readHistoryAddress } from './history-filters.ts'
import { useHistory } from './read-history.ts'

/** `/history`: are we getting better? */
export function HistoryPage() {
  const [query] = useSearchParams()
  const [, navigate] = useLocation()
  const zone = useTimeZone()
  const { address, issues } = readHistoryAddress(query)
  const history = useHistory(address, zone)
  useTab('History')
  const change = (changed: Partial<HistoryAddress>) =>
    navigate(historyAddress({ ...address, ...changed }), { replace: true })
  return (
    <>
      <h1 tabIndex={-1}>History</h1>
      <AddressIssueNotice issues={issues} cleared={historyAddress(address)} />
      <Range address={address} change={change} />
      <Answered query={history} what="the history">
        {(data) => (
          <div className="flow" aria-busy={history.isPlaceholderData}>
            {history.isPlaceholderData ? (
              <Delayed>
                <p className="why" role="status">
                  Loading {address.days} days. What you see is the choice before.
                </p>
              </Delayed>
            ) : null}
            <Loaded history={data} address={address} zone={zone} />
          </div>
        )}
      </Answered>
    </>
  )
}

type RangeProps = { address: HistoryAddress; change: (changed: Partial<HistoryAddress>) => void }

/** Which days, and of what. */
function Range({ address, change }: RangeProps) {
  const name = useId()
  return (
    <form className="filters" aria-label="Range" onSubmit={(event) => event.preventDefault()}>
      <fieldset className="choice">
        <legend className="sr">Days</legend>
        {historyRanges.map((days) => (
          <label key={days}>
            <input
              type="radio"
              name={name}
              checked={address.days === Number(days)}
              onChange={() => change({ days: Number(days) })}
            />
            {days} days
          </label>
        ))}
      </fieldset>
      <div className="line">
        <NameFilter name="app" className="field" value={address.app} change={(app) => change({ app })} />
        <NameFilter
          name="project"
          className="field"
          value={address.project}
          change={(project) => change({ project })}
        />
        <NameFilter
          name="environment"
          className="field"
          value={address.environment}
          change={(environment) => change({ environment })}
        />
      </div>
    </form>
  )
}

function Loaded({ history, address, zone }: { history: History; address: HistoryAddress; zone: string }) {
  const { data: lock } = useDeployLock()
  const days = history.by_day
  const [from, to] = [days[0]?.from ?? history.total.from, days.at(-1)?.to ?? history.total.to]
  const { data: calendar } = useLockCalendar(from, to, lock)
  const locked = lockedRanges(calendar?.intervals ?? [], from, history.as_of)
  const filters = {
    ...(address.app !== undefined && { app: address.app }),
    ...(address.project !== undefined && { project: address.project }),
    ...(address.environment !== undefined && { environment: address.environment }),
  }
  const ofPeriod = { ...filters, ended_from: String(history.total.from), ended_to: String(to) }
  const chart = { history, locked, filters, zone }
  if (decidedOf(history.total.counts) === 0) return <NothingEnded history={history} address={address} />
  return (
    <>
      <p className="lede">{historySentence(history)}</p>
      <dl className="kpis four">
        {fourFigures(history).map(({ name, value, against }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            <dd className="against">{againstWords(against, history.days)}</dd>
          </div>
        ))}
      </dl>
      <div className="cols-even charts">
        <DeploymentsChart {...chart} />
        <SuccessChart {...chart} />
        <DurationChart {...chart} />
        <LeadTimeChart {...chart} />
      </div>
      <div className="cols-even">
        <div className="flow">
          <CauseBars history={history} filters={ofPeriod} />
          <Rollbacks history={history} />
        </div>
        <FailingApps history={history} filters={ofPeriod} />
      </div>
    </>
  )
}

/** "+ 20 % against the 30 days before" */
function againstWords(against: string | undefined, days: number): string {
  if (against === undefined) return ''
  return against === 'as before' ? `as in the ${days} days before` : `${against} against the ${days} days before`
}

function NothingEnded({ history, address }: { history: History; address: HistoryAddress }) {
  const { app, project, environment, ...ofAll } = address
  return (
    <div className="empty">
      <Icon name="n-history" />
      <h2>{historySentence(history)}</h2>
      <p>Charts appear with the first verdict.</p>
      <div className="row">
        {history.days < 90 ? (
          <Link className="btn btn-s" href={historyAddress({ ...address, days: 90 })}>
            Show 90 days
          </Link>
        ) : null}
        {app !== undefined || project !== undefined || environment !== undefined ? (
          <Link className="btn btn-s" href={historyAddress(ofAll)}>
            All applications
          </Link>
        ) : null}
      </div>
    </div>
  )
}
