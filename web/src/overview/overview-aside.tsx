import { Link } from 'wouter'
import type { History } from '../../../contract/history.ts'
import { successRate } from '../history/figures.ts'
import type { useToday } from '../history/read-history.ts'
import { lockHeadline, lockOrigin } from '../locks/lock-words.ts'
import { useDeployLock } from '../locks/read-deploy-lock.ts'
import { argoCdSentence } from '../service/argo-cd-sentence.ts'
import { useServiceStatus } from '../service/read-status.ts'
import { Answered } from '../ui/answered.tsx'
import { duration } from '../ui/duration.ts'
import { figure, noBreak } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { useTimeWords } from '../ui/time-zone.ts'

/** The lock and its next change. */
export function LockSummary() {
  const time = useTimeWords(useNow())
  return (
    <Section title="Deploy lock" id="lock" end={<Link href="/lock">Calendar</Link>}>
      <Answered query={useDeployLock()} what="the deploy lock" rows={2}>
        {(lock) => (
          <>
            <p className="big row">
              <Icon name={lock.active ? 'i-locked' : 'i-open'} /> {lockHeadline(lock, time)}
            </p>
            <p className="small">{lockOrigin(lock, time)}</p>
          </>
        )}
      </Answered>
    </Section>
  )
}

/** Today's figures. */
export function TodaySummary({ today }: { today: ReturnType<typeof useToday> }) {
  return (
    <Section title="Today" id="today" end={<Link href="/history">History</Link>}>
      <Answered query={today} what="today" rows={3}>
        {({ total }) => (
          <dl className="kpis">
            {figuresOf(total).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
      </Answered>
    </Section>
  )
}

function figuresOf({ counts, durations }: History['total']): readonly (readonly [string, string])[] {
  const { deployed = 0, failed = 0, aborted = 0, cancelled = 0 } = counts
  const rate = successRate(counts)
  return [
    ['Deployed', figure(deployed)],
    ['Failed', figure(failed)],
    ['Aborted', figure(aborted)],
    ['Cancelled', figure(cancelled)],
    ...(rate === undefined ? [] : [['Success rate', `${Math.floor(rate * 100)}${noBreak}%`] as const]),
    ...(durations === undefined ? [] : [['Median', duration(durations.median_seconds)] as const]),
  ]
}

/** Whether Argo CD answers, in one sentence. */
export function ArgoCdSummary() {
  const now = useNow()
  return (
    <Section title="Argo CD" id="argo-cd">
      <Answered query={useServiceStatus()} what="the state of Argo CD" rows={1}>
        {({ argo_cd: argoCd }) => <p className="small">{argoCdSentence(argoCd, now)}</p>}
      </Answered>
    </Section>
  )
}
