import type { TaskResult } from '../../deployments/task.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { Judgement } from '../judge/input/verdict.ts'
import { applicationUrl } from '../judge/report/diagnose.ts'
import type { ObservedFacts } from './observations.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import type { TaskState, WatchedApplication } from './watched-application.ts'

type Dependencies = Pick<RolloutWatcherDeps, 'records' | 'settings' | 'clock' | 'factsAtFirstSight' | 'onDeployed'>

export type TaskReports = ReturnType<typeof createTaskReports>

/** Writes down what judgements say of a task, in their order and only what is new. */
export function createTaskReports({ records, settings, clock, factsAtFirstSight, onDeployed }: Dependencies) {
  /** What the first sight of the application tells. */
  const confirmed = ({ app, observations }: WatchedApplication, state: TaskState) => {
    const { newest } = observations.facts.known
    if (newest === undefined || state.hasAppUrl) return undefined
    state.hasAppUrl = true
    return { appUrl: applicationUrl(settings.linkBase, newest), ...factsAtFirstSight(app, newest) }
  }

  /** A log is shown only of a Pod that stands in the way of this very task. */
  const withPodLog = ({ podLog }: ObservedFacts, { end, badPodUids }: Judgement & { end: TaskResult }) =>
    end.status === 'failed' && podLog !== undefined && badPodUids.includes(podLog.uid)
      ? { ...end, podLog: podLog.log }
      : end

  return {
    addEvents(state: TaskState, events: readonly NewTaskEvent[]) {
      if (events.length > 0 && !state.isOver) state.writes.addUpdate({ change: {}, events })
    },

    /** Baseline, progress, link and events of one judgement. */
    saveWhatChanged(application: WatchedApplication, state: TaskState, judgement: Judgement) {
      const { baseline } = judgement.memory
      const isNewBaseline = baseline !== undefined && baseline !== state.savedBaseline
      if (isNewBaseline) state.savedBaseline = baseline
      const firstSight = confirmed(application, state)
      const { progress, diagnosis, events } = judgement
      if (diagnosis === undefined && !isNewBaseline && firstSight === undefined && events.length === 0) return
      const change = {
        ...(diagnosis === undefined ? {} : { progress, diagnosis }),
        ...firstSight,
        ...(isNewBaseline ? { baseline } : {}),
      }
      state.writes.addUpdate({ change, events })
    },

    finish(
      { observations: { facts } }: WatchedApplication,
      state: TaskState,
      judgement: Judgement & { end: TaskResult },
    ) {
      state.isOver = true
      state.cancelTimer()
      const whole = withPodLog(facts, judgement)
      const { changedAtMs } = facts
      state.writes.addLast(async (unsaved) => {
        const isWritten = await records.finish(state.task.claim, whole, unsaved)
        if (isWritten === true && whole.status === 'deployed' && changedAtMs !== undefined)
          onDeployed?.(clock.nowMs() - changedAtMs)
        return false // either finished or taken: nothing is left to write
      })
    },
  }
}
