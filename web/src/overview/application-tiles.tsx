import { memo } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { AppSummary } from '../../../contract/app-summary.ts'
import { StatusIcon } from '../deployments/status-mark.tsx'
import { shownStatuses, wordsOf } from '../deployments/status-words.ts'
import { listAddress } from '../deployments/task-filters.ts'
import { duration } from '../ui/duration.ts'
import { figure } from '../ui/figure.ts'
import { Section } from '../ui/section.tsx'
import { changeText } from '../ui/version-change.ts'
import { Ago } from '../ui/when.tsx'
import { useHeldRows } from './use-held-rows.ts'
import { changeOf, isRollingOut, sortTiles } from './views.ts'

const shownAtMost = 12

/** A tile for each application: those that need attention first. Twelve, and the rest by a link. */
export function ApplicationTiles({ apps }: { apps: readonly AppSummary[] }) {
  const [query] = useSearchParams()
  const sorted = sortTiles(apps)
  const areAllShown = query.get('apps') === 'all'
  const latest = areAllShown ? sorted : sorted.slice(0, shownAtMost)
  const { rows, hold } = useHeldRows(latest.map((summary) => ({ key: summary.app, summary })))
  const count = figure(apps.length)
  return (
    <Section
      title="Applications"
      id="applications"
      note={count}
      end={<span className="dim hide-phone">Last ten outcomes, newest at the right</span>}
      {...hold}
    >
      <ul className="tiles">
        {rows.map(({ key, summary }) => (
          <Tile summary={summary} key={key} />
        ))}
      </ul>
      {apps.length <= shownAtMost ? null : (
        <p className="small">
          {areAllShown ? (
            <Link href="/">Show {shownAtMost} applications</Link>
          ) : (
            <Link href="/?apps=all">Show all {count} applications</Link>
          )}
        </p>
      )}
    </Section>
  )
}

/** Drawn again only when its summary changes. */
const Tile = memo(function Tile({ summary }: { summary: AppSummary }) {
  const { app, median_seconds: median } = summary
  const change = changeText(changeOf(summary))
  return (
    <li className="tile">
      <div className="stack tight">
        <h3 className="name">
          <Link href={listAddress({ app })}>{app}</Link>
        </h3>
        {change === '' ? null : <code className="tag">{change}</code>}
      </div>
      <div className="stack tight">
        <LastTen recent={summary.recent} />
        <div className="meta">
          <span>
            <WhenLast summary={summary} />
          </span>
          {median === undefined ? null : <span>median {duration(median)}</span>}
        </div>
      </div>
    </li>
  )
})

function WhenLast({ summary }: { summary: AppSummary }) {
  const { latest, last_deployment: last } = summary
  if (isRollingOut(summary)) return 'rolling out'
  if (latest === undefined) return last === undefined ? '' : <Ago at={last.created} />
  const at = <Ago at={latest.ended ?? latest.created} />
  return latest.status === 'deployed' ? (
    at
  ) : (
    <>
      {latest.status} {at}
    </>
  )
}

/** Good outcomes are small discs, any other has its full shape: ten good ones are quiet. The sentence is in the label. */
export function LastTen({ recent }: { recent: AppSummary['recent'] }) {
  const counts = shownStatuses.flatMap((status) => {
    const count = recent.filter((one) => one.status === status).length
    return count === 0 ? [] : [`${count} ${status}`]
  })
  return (
    <span className="ten" role="img" aria-label={`Last ten: ${counts.join(', ') || 'none'}`}>
      {recent.toReversed().map(({ id, status }) =>
        status === 'deployed' ? (
          <svg className="ok" viewBox="0 0 13 13" aria-hidden="true" key={id}>
            <circle cx="6.5" cy="6.5" r="3.5" />
          </svg>
        ) : (
          <span className={`st-${wordsOf(status).tone}`} key={id}>
            <StatusIcon icon={wordsOf(status).icon} />
          </span>
        ),
      )}
    </span>
  )
}
