import type { AppSummary } from '../../../contract/app-summary.ts'
import { ChangeAnnouncement } from '../deployments/change-announcement.tsx'
import { FirstSteps } from '../deployments/first-steps.tsx'
import { useRollouts } from '../deployments/list-tasks.ts'
import { useSummaries } from '../deployments/read-summaries.ts'
import { useToday } from '../history/read-history.ts'
import { Answered } from '../ui/answered.tsx'
import { noBreak } from '../ui/figure.ts'
import { useTab } from '../ui/tab.ts'
import { useTimeZone } from '../ui/time-zone.ts'
import { ApplicationTiles } from './application-tiles.tsx'
import { AttentionList } from './attention-list.tsx'
import { DayStrip, dayHeight } from './day-strip.tsx'
import { headlineOf, titleOf, todaySentence } from './headline.ts'
import { ArgoCdSummary, LockSummary, TodaySummary } from './overview-aside.tsx'
import { RolloutList } from './rollout-list.tsx'
import { type Attention, attentionsOf, failedBefore, sortRollouts } from './views.ts'

/** `/`: is anything wrong, and what is happening? */
export function OverviewPage() {
  const summaries = useSummaries()
  const rollouts = useRollouts()
  const zone = useTimeZone()
  const ofToday = useToday(zone)
  const { data: today } = ofToday
  const { inProgress } = rollouts
  const apps = rollouts.isRead ? summaries.data?.apps : undefined
  const error = summaries.error ?? rollouts.error
  // What is below the headline comes with it, as nothing may move for its length.
  const isSettled = apps !== undefined || error !== null
  const attentions = attentionsOf(apps ?? [])
  const { bad, rest } = headlineOf(attentions.length, inProgress.length, apps?.length ?? 0)
  const mood = attentions.length > 0 ? 'bad' : inProgress.length > 0 ? 'moving' : undefined
  useTab(apps === undefined ? 'Overview' : titleOf(attentions.length, inProgress.length), { mood })
  const refetch = () => {
    void summaries.refetch()
    void rollouts.refetch()
  }
  return (
    <>
      <div className="stack">
        <div className="headline">
          <h1 tabIndex={-1}>
            {bad === undefined ? null : <span className="bad">{bad} </span>}
            {apps === undefined ? 'Overview' : rest}
          </h1>
          {isSettled ? <p>{today === undefined ? noBreak : todaySentence(today)}</p> : null}
        </div>
        {!isSettled ? null : today === undefined ? (
          <svg className="day" width="100%" height={dayHeight} aria-hidden="true" />
        ) : (
          <DayStrip history={today} rollingOut={inProgress.length} zone={zone} />
        )}
      </div>
      <div className="cols">
        <div className="flow">
          <Answered query={{ data: apps, error, refetch }} what="the overview">
            {(known) => <Applications apps={known} attentions={attentions} rollouts={rollouts} />}
          </Answered>
        </div>
        {isSettled ? (
          <div className="aside">
            <LockSummary />
            <TodaySummary today={ofToday} />
            <ArgoCdSummary />
          </div>
        ) : null}
      </div>
    </>
  )
}

type Props = {
  apps: readonly AppSummary[]
  attentions: readonly Attention[]
  rollouts: ReturnType<typeof useRollouts>
}

function Applications({ apps, attentions, rollouts: { inProgress, ended, hasMore } }: Props) {
  if (apps.length === 0 && inProgress.length === 0) return <FirstSteps />
  return (
    <>
      <AttentionList attentions={attentions} />
      <RolloutList
        tasks={sortRollouts(inProgress, apps)}
        ended={ended}
        count={`${hasMore ? 'more than ' : ''}${inProgress.length}`}
        failed={failedBefore(apps)}
        usual={new Map(apps.map(({ app, median_seconds }) => [app, median_seconds]))}
      />
      <ApplicationTiles apps={apps} />
      <ChangeAnnouncement tasks={[...inProgress, ...ended]} />
    </>
  )
}
