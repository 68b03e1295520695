import { Link } from 'wouter'
import type { History } from '../../../contract/history.ts'
import { lockHeadline, lockOrigin } from '../locks/lock-words.ts'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { argoCdSentence } from '../service/argo-cd-sentence.ts'
import { useServiceStatus } from '../service/read-status.ts'
import { duration } from '../ui/duration.ts'
import { figure } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'

/** The lock and its next change. */
export function LockSummary({ zone }: { zone: string }) {
  const { data: lock } = useDeployLock()
  const now = useNow()
  if (lock === undefined) return null
  return (
    <Section title="Deploy lock" id="lock" end={<Link href="/lock">Calendar</Link>}>
      <p className="big row">
        <Icon name={lock.active ? 'i-locked' : 'i-open'} /> {lockHeadline(lock, now, zone)}
      </p>
      <p className="small">{lockOrigin(lock, now, zone)}</p>
    </Section>
  )
}

/** Today's figures. */
export function TodaySummary({ total: { counts, durations } }: Pick<History, 'total'>) {
  const { deployed = 0, failed = 0, aborted = 0, cancelled = 0 } = counts
  const ended = deployed + failed + aborted
  const figures: readonly (readonly [string, string])[] = [
    ['Deployed', figure(deployed)],
    ['Failed', figure(failed)],
    ['Aborted', figure(aborted)],
    ['Cancelled', figure(cancelled)],
    ...(ended === 0 ? [] : [['Success rate', `${Math.floor((deployed / ended) * 100)}\u00a0%`] as const]),
    ...(durations === undefined ? [] : [['Median', duration(durations.median_seconds)] as const]),
  ]
  return (
    <Section title="Today" id="today" end={<Link href="/history">History</Link>}>
      <dl className="kpis">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

/** Whether Argo CD answers, in one sentence. */
export function ArgoCdSummary() {
  const { data } = useServiceStatus()
  const now = useNow()
  if (data === undefined) return null
  return (
    <Section title="Argo CD" id="argo-cd">
      <p className="small">{argoCdSentence(data.argo_cd, now)}</p>
    </Section>
  )
}
