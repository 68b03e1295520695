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
  /** What the first sight of the application tells, and its external address whenever that is another one. */
  const seen = ({ app, observations }: WatchedApplication, state: TaskState) => {
    const { newest } = observations.facts.known
    if (newest === undefined) return undefined
    const { externalUrl } = newest
    const isMoved = externalUrl !== undefined && externalUrl !== state.externalUrl
    if (state.hasAppUrl && !isMoved) return undefined
    const confirmed = state.hasAppUrl
      ? {}
      : { appUrl: applicationUrl(settings.linkBase, newest), ...factsAtFirstSight(app, newest) }
    state.hasAppUrl = true
    state.externalUrl = externalUrl ?? state.externalUrl
    return { ...confirmed, ...(isMoved ? { externalUrl } : {}) }
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
      const sight = seen(application, state)
      const { progress, diagnosis, events } = judgement
      if (diagnosis === undefined && !isNewBaseline && sight === undefined && events.length === 0) return
      const change = {
        ...(diagnosis === undefined ? {} : { progress, diagnosis }),
        ...sight,
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
