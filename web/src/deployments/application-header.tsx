import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { TaskRecord } from '../../../contract/task.ts'
import { decidedOf, deployedOf, percent, perDay, successRate } from '../history/figures.ts'
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
const weekDays = 7

/** Above the list of one application: what runs since when, and how its deployments go. Nothing for an unknown one. */
export function ApplicationHeader({ app }: { app: string }) {
  const zone = useTimeZone()
  const summary = useSummary(app)
  const total = useHistory({ days, app }, zone).data?.total
  const running = useNewest({ app, status: 'deployed' })
  const newest = useNewest({ app })
  if (newest === undefined) return null
  const rate = total === undefined ? undefined : successRate(total.counts)
  return (
    <section className="app-header" aria-label="How it goes">
      <dl className="values">
        <Value name="Runs">{running === undefined ? 'nothing deployed here' : <Running task={running} />}</Value>
        {summary === undefined ? null : (
          <Value name="Last ten">
            <LastTen recent={summary.recent} />
          </Value>
        )}
        {total === undefined || rate === undefined ? null : (
          <>
            <Value name={`Success rate of ${decidedOf(total.counts)}, ${days} days`}>{percent(rate)}</Value>
            <Value name="Deployments a week">{perDay(deployedOf(total.counts) * weekDays, days)}</Value>
          </>
        )}
        {total?.durations === undefined ? null : (
          <Value name="Half within">{duration(total.durations.median_seconds)}</Value>
        )}
        {total?.restore === undefined ? null : (
          <Value name="Time to restore">{duration(total.restore.median_seconds)}</Value>
        )}
      </dl>
      <div className="actions">
        <Buttons newest={newest} running={running} />
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
