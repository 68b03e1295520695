import type { TaskResult } from '../../deployments/task.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { findBadPods } from '../judge/judge-pods.ts'
import type { Judgement } from '../judge/judgement.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import type { TaskUpdate } from './task-writes.ts'
import type { TaskState, WatchedApplication } from './watched-application.ts'

type Dependencies = Pick<RolloutWatcherDeps, 'records' | 'settings' | 'linkBase'>

export type TaskReports = ReturnType<typeof createTaskReports>

/** Writes down what judgements say of a task, in their order and only what is new. */
export function createTaskReports({ records, settings, linkBase }: Dependencies) {
  const base = linkBase.replace(/(?<!\/)\/+$/, '')

  const tellReaders = ({ task, writes }: TaskState, news: TaskUpdate) =>
    writes.tell(news, ({ change, events }) => records.saveProgress(task.claim, change, events))

  const newAppUrl = ({ known }: WatchedApplication, state: TaskState): string | undefined => {
    if (known.newest === undefined || state.hasAppUrl) return undefined
    state.hasAppUrl = true
    return `${base}/applications/${known.newest.namespace}/${known.newest.name}`
  }

  /** A log is told only of a Pod that stands in the way of this very task. */
  const withPodLog = ({ tree, podLog }: WatchedApplication, state: TaskState, end: TaskResult): TaskResult => {
    if (end.status !== 'failed' || podLog === undefined || tree?.value === undefined) return end
    const isToBlame = findBadPods(tree.value, state.task.images, settings).some(({ pod }) => pod.uid === podLog.uid)
    return isToBlame ? { ...end, podLog: podLog.log } : end
  }

  return {
    tell(state: TaskState, events: readonly NewTaskEvent[]) {
      if (events.length > 0 && !state.isOver) tellReaders(state, { change: {}, events })
    },

    /** Baseline, progress, link and events of one judgement. */
    saveWhatChanged(application: WatchedApplication, state: TaskState, judgement: Judgement) {
      const { baseline } = judgement.memory
      const isNewBaseline = baseline !== undefined && baseline !== state.savedBaseline
      if (isNewBaseline) state.savedBaseline = baseline
      const appUrl = newAppUrl(application, state)
      const isNews = judgement.progress !== '' && judgement.progress !== state.progress
      if (!isNews && !isNewBaseline && appUrl === undefined && judgement.events.length === 0) return
      if (isNews) state.progress = judgement.progress
      const change = {
        ...(isNews ? { progress: judgement.progress } : {}),
        ...(appUrl === undefined ? {} : { appUrl }),
        ...(isNewBaseline ? { baseline } : {}),
      }
      tellReaders(state, { change, events: judgement.events })
    },

    finish(application: WatchedApplication, state: TaskState, end: TaskResult) {
      state.isOver = true
      state.cancelTimer()
      const whole = withPodLog(application, state, end)
      state.writes.add(async () => {
        await records.finish(state.task.claim, whole)
        return false // either finished or taken: nothing is left to write
      })
    },
  }
}
