import { useDocumentTitle } from '@mantine/hooks'
import type { AppSummary } from '../../../contract/app-summary.ts'
import { ChangeAnnouncement } from '../deployments/change-announcement.tsx'
import { useRollouts } from '../deployments/list-tasks.ts'
import { NoDeploymentYet } from '../deployments/no-tasks.tsx'
import { useSummaries } from '../deployments/read-summaries.ts'
import { useToday } from '../history/read-history.ts'
import { useTimeZone } from '../ui/device-settings.ts'
import { LoadingRows } from '../ui/loading-rows.tsx'
import { ReadFailure } from '../ui/read-failure.tsx'
import { ApplicationTiles } from './application-tiles.tsx'
import { AttentionList } from './attention-list.tsx'
import { DayStrip } from './day-strip.tsx'
import { headlineOf, titleOf, todaySentence } from './headline.ts'
import { ArgoCdSummary, LockSummary, TodaySummary } from './overview-aside.tsx'
import { RolloutList } from './rollout-list.tsx'
import { type Attention, attentionsOf, sortRollouts } from './views.ts'

/** `/`: is anything wrong, and what is happening? */
export function OverviewPage() {
  const summaries = useSummaries()
  const rollouts = useRollouts()
  const zone = useTimeZone()
  const { data: today } = useToday(zone)
  const { inProgress } = rollouts
  const apps = rollouts.isRead ? summaries.data?.apps : undefined
  const attentions = attentionsOf(apps ?? [])
  const { bad, rest } = headlineOf(attentions.length, inProgress.length, apps?.length ?? 0)
  const title = apps === undefined ? 'Overview' : titleOf(attentions.length, inProgress.length)
  useDocumentTitle(`${title} · Deployment Watcher`)
  const retry = () => {
    void summaries.refetch()
    void rollouts.refetch()
  }
  const error = summaries.error ?? rollouts.error
  return (
    <>
      <div className="stack">
        <div className="headline">
          <h1 tabIndex={-1}>
            {bad === undefined ? null : <span className="bad">{bad} </span>}
            {apps === undefined ? title : rest}
          </h1>
          {today === undefined ? null : <p>{todaySentence(today)}</p>}
        </div>
        {today === undefined ? null : <DayStrip history={today} rollingOut={inProgress.length} zone={zone} />}
      </div>
      <div className="cols">
        <div className="flow">
          {apps !== undefined ? (
            <Applications apps={apps} attentions={attentions} rollouts={rollouts} />
          ) : error === null ? (
            <LoadingRows label="Loading the overview" />
          ) : (
            <ReadFailure what="The overview" error={error} retry={retry} />
          )}
        </div>
        <div className="aside">
          <LockSummary zone={zone} />
          {today === undefined ? null : <TodaySummary total={today.total} />}
          <ArgoCdSummary />
        </div>
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
  if (apps.length === 0 && inProgress.length === 0) return <NoDeploymentYet />
  return (
    <>
      <AttentionList attentions={attentions} />
      <RolloutList
        tasks={sortRollouts(inProgress, apps)}
        ended={ended}
        count={`${hasMore ? 'more than ' : ''}${inProgress.length}`}
        usual={new Map(apps.map(({ app, median_seconds }) => [app, median_seconds]))}
      />
      <ApplicationTiles apps={apps} />
      <ChangeAnnouncement tasks={[...inProgress, ...ended]} />
    </>
  )
}
