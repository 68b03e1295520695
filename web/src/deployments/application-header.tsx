import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import { fourFigures } from '../history/four-figures.ts'
import { historyAddress } from '../history/history-filters.ts'
import { useHistory } from '../history/read-history.ts'
import { LastTen } from '../overview/application-tiles.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { useTimeZone } from '../ui/time-zone.ts'
import { Ago } from '../ui/when.tsx'
import { versionName } from './action-words.ts'
import { Change } from './change.tsx'
import { useNewest } from './list-tasks.ts'
import { useSummary } from './read-summaries.ts'

const days = 30

/** Above the list of one application: what runs since when, and how its deployments go. Nothing for an unknown one. */
export function ApplicationHeader({ app }: { app: string }) {
  const zone = useTimeZone()
  const summary = useSummary(app)
  const history = useHistory({ days, app }, zone).data
  const running = useNewest({ app, status: 'deployed' })
  const newest = useNewest({ app })
  if (newest === undefined) return null
  return (
    <section className="app-header" aria-label="How it goes">
      <dl className="values">
        <Value name="Runs">{running === undefined ? 'nothing deployed here' : <Running task={running} />}</Value>
        {summary === undefined ? null : (
          <Value name="Last ten">
            <LastTen recent={summary.recent} />
          </Value>
        )}
        {(history === undefined ? [] : fourFigures(history)).map(({ name, value, against }) => (
          <Value name={name} key={name}>
            {value} <span className="delta">{changeWords(against)}</span>
          </Value>
        ))}
        {history?.total.durations === undefined ? null : (
          <Value name="Half within">{duration(history.total.durations.median_seconds)}</Value>
        )}
      </dl>
      <div className="actions">
        <Buttons newest={newest} running={running} />
        <Link className="btn" href={historyAddress({ days, app })}>
          <Icon name="n-history" />
          History
        </Link>
      </div>
    </section>
  )
}

function Running({ task }: { task: TaskRecord }) {
  return (
    <>
      <Link href={`/task/${encodeURIComponent(task.id)}`}>
        <Change task={{ images: task.images, previous: undefined }} />
      </Link>{' '}
      <span className="delta">
        deployed <Ago at={task.updated} />
      </span>
    </>
  )
}

const changeWords = (against: string | undefined): string =>
  against === undefined || against === 'as before' ? (against ?? '') : `${against} in ${days} days`

/** The rollback is asked for on the page of the deployment that would be replaced. */
function Buttons({ newest, running }: { newest: TaskRecord; running: TaskRecord | undefined }) {
  const isBroken = newest.status === 'failed' || newest.status === 'aborted'
  const target = isBroken && newest.previous !== undefined ? newest.previous : undefined
  return (
    <>
      {target === undefined ? null : (
        <Link className="btn" href={`/task/${encodeURIComponent(newest.id)}`} state={{ asks: 'back' }}>
          <Icon name="i-back" />
          Roll back to {versionName(target.images)}
        </Link>
      )}
      <OutsideLink href={newest.app_url ?? running?.app_url} className="btn" orElse="nothing">
        <Icon name="i-out" />
        Argo CD
      </OutsideLink>
      <OutsideLink href={running?.repository} className="btn" orElse="nothing">
        <Icon name="i-out" />
        Git
      </OutsideLink>
    </>
  )
}

function Value({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
