import { parseApplicationReference } from '../../../contract/application-name.ts'
import { hasEarlierOwner } from '../../deployments/task.ts'
import type { WriteBackOutcome } from '../../write-back/plan/write-back-outcome.ts'
import { type RolloutMemory, startMemory, storedConditionSince } from '../judge/input/rollout-memory.ts'
import type { Judgement } from '../judge/input/verdict.ts'
import type { WatchedTask } from '../judge/input/watched-task.ts'
import { judgeRollout } from '../judge/judge-rollout.ts'
import type { ApplicationList } from '../observed/delivery-controller.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import { createControllerCalls } from './controller-calls.ts'
import { createPerformAction, isBeingRead } from './perform-action.ts'
import { createReachability } from './reachability.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import { createTaskReports } from './task-reports.ts'
import { createTaskWrites } from './task-writes.ts'
import {
  hasCommitsOnTheirWay,
  observationOf,
  type TaskState,
  type WatchedApplication,
  watchedApplication,
} from './watched-application.ts'
import { createWriteBackDecisions, initialWriteBack } from './write-back-decisions.ts'

/** Tasks are evaluated again after this long at the latest, should a wake-up have been lost. */
const maxEvaluationIntervalMs = 15_000
const sharedReadMs = 1_000
/** How long a task that comes waits for the direct read that its baseline is taken from. */
const baselineReadMs = 2_000
const sharedInBurstMs = 10_000

/**
 * Watches applications until the verdict on each task is confirmed: whatever is seen or found out wakes the tasks of its
 * application, each is judged (`judgeRollout`), and the actions of its judgement are done.
 */
export function createRolloutWatcher(deps: RolloutWatcherDeps) {
  const { clock, settings } = deps
  const applications = new Map<string, WatchedApplication>()
  const appOfTask = new Map<string, WatchedApplication>()
  let isClosed = false

  const judgeEverything = () => {
    for (const application of [...applications.values()]) judgeAll(application)
  }
  const judgeAll = (application: WatchedApplication) => {
    for (const state of [...application.tasks.values()]) judge(application, state)
  }

  /** An error in one task must not stop the others. */
  const judge = (application: WatchedApplication, state: TaskState) => {
    if (state.isOver || isClosed) return
    state.cancelTimer()
    state.evaluateAtMs = Number.POSITIVE_INFINITY
    if (awaitsBaseline(application, state)) return scheduleEvaluation(application, state, baselineReadMs)
    try {
      const observation = observationOf(application, state, deps.annotations, reachability.state())
      apply(application, state, judgeRollout(state.task, state.memory, observation, clock.nowMs(), settings))
      // After the baseline was saved, which must be from before the commit.
      if (writeBacks.decide(application, state)) judge(application, state)
    } catch (error) {
      deps.onError('judging a task failed, retrying', error, { task: state.task.id })
      scheduleEvaluation(application, state, maxEvaluationIntervalMs)
    }
  }

  /** What the stream told last may be from seconds before the task came: a failure in it would count as one from after. */
  const awaitsBaseline = (application: WatchedApplication, { memory }: TaskState) =>
    memory.baseline === undefined &&
    application.observations.facts.known.newest !== undefined &&
    isBeingRead(application) &&
    clock.nowMs() - memory.startedAtMs < baselineReadMs

  const apply = (application: WatchedApplication, state: TaskState, judgement: Judgement) => {
    state.memory = judgement.memory
    state.actions = judgement.actions
    reports.saveWhatChanged(application, state, judgement)
    const { end } = judgement
    if (end !== undefined) return reports.finish(application, state, { ...judgement, end })
    scheduleEvaluation(application, state, judgement.againAtMs - clock.nowMs())
    for (const action of judgement.actions) perform(application, state, action)
  }

  /** The soonest of the times asked for since the last evaluation counts. */
  const scheduleEvaluation = (application: WatchedApplication, state: TaskState, requestedDelayMs: number) => {
    const delayMs = Math.max(1, Math.min(requestedDelayMs, maxEvaluationIntervalMs))
    if (clock.nowMs() + delayMs >= state.evaluateAtMs) return
    state.cancelTimer()
    state.evaluateAtMs = clock.nowMs() + delayMs
    state.cancelTimer = clock.setTimer(delayMs, () => judge(application, state))
  }

  const reachability = createReachability(deps.controller, clock, judgeEverything)
  const reports = createTaskReports(deps)
  const writeBacks = createWriteBackDecisions({ ...deps, reports })
  const calls = createControllerCalls({ ...deps, checkReachability: reachability.checkReachability })
  const isUnreachable = () => reachability.state() !== undefined
  const { perform, queueRead } = createPerformAction({
    ...deps,
    calls,
    reports,
    isUnreachable,
    scheduleEvaluation,
    judgeAll,
  })

  const watchOne = (task: WatchedTask) => {
    const earlier = appOfTask.get(task.id)?.tasks.get(task.id)
    const claimed = earlier?.task.claim
    if (claimed !== undefined && BigInt(claimed.fence) > BigInt(task.claim.fence)) return // its answer was overtaken
    // Before its last task is forgotten: what was found out serves a second claim of the same task too.
    const application =
      applications.get(task.app) ??
      watchedApplication(task.app, parseApplicationReference(task.app), clock, settings.controlPlaneNamespace)
    forget(task.id)
    applications.set(task.app, application)
    appOfTask.set(task.id, application)
    const memory = startMemory(task.baseline, clock.nowMs(), storedConditionSince(task))
    // What the earlier claim has reported may not have been stored.
    const state = stateOf(task, earlier === undefined ? memory : { ...earlier.memory, reported: memory.reported })
    application.tasks.set(task.id, state)
    if (!hasEarlierOwner(task.claim) && !isReadFor(application, task)) perform(application, state, { kind: 'read' })
    judge(application, state)
  }

  /** Tasks for one application often come together; what one of them has just read serves them all. */
  const isReadFor = ({ observations, tasks }: WatchedApplication, task: WatchedTask) => {
    const {
      known: { newest },
      directRead,
    } = observations.facts
    if (newest === undefined || directRead?.result !== 'read') return false
    const agoMs = clock.nowMs() - directRead.askedAtMs
    // The verdict on a commit hardly depends on the baseline, and nothing of theirs is rolled out before it is pushed.
    const isBurst = hasCommitsOnTheirWay({ tasks }) && deps.decideWriteBack(task, newest).kind === 'write'
    return agoMs < (isBurst ? sharedInBurstMs : sharedReadMs)
  }

  const stateOf = (task: WatchedTask, memory: RolloutMemory): TaskState => ({
    task,
    memory,
    actions: [],
    savedBaseline: task.baseline,
    writeBack: initialWriteBack(task, clock.nowMs()),
    plan: undefined,
    overrides: new Map(),
    hasAppUrl: false,
    externalUrl: undefined,
    isOver: false,
    evaluateAtMs: Number.POSITIVE_INFINITY,
    cancelTimer: () => {},
    writes: createTaskWrites(
      clock,
      ({ change, events }) => deps.records.saveProgress(task.claim, change, events),
      () => forget(task.id),
      (error) => deps.onError('saving a task failed, retrying', error, { task: task.id }),
    ),
  })

  const forget = (taskId: string) => {
    const application = appOfTask.get(taskId)
    const state = application?.tasks.get(taskId)
    if (application === undefined || state === undefined) return
    state.isOver = true
    state.cancelTimer()
    state.writes.close()
    appOfTask.delete(taskId)
    application.tasks.delete(taskId)
    if (application.tasks.size === 0) applications.delete(application.app)
  }

  return {
    watch(tasks: readonly WatchedTask[]) {
      for (const task of tasks) watchOne(task)
    },
    drop(taskIds: readonly string[]) {
      for (const id of taskIds) forget(id)
    },
    /** What became of a task's commit. */
    outcome(taskId: string, outcome: WriteBackOutcome) {
      const application = appOfTask.get(taskId)
      const state = application?.tasks.get(taskId)
      if (application === undefined || state === undefined || state.writeBack.kind === 'ended') return
      state.writeBack = { kind: 'ended', outcome, atMs: clock.nowMs() }
      // A refresh that others want may have waited for the last of them.
      if (hasCommitsOnTheirWay(application)) judge(application, state)
      else judgeAll(application)
    },
    /** An event of the stream. */
    updated(type: 'seen' | 'deleted', seen: ObservedApplication) {
      for (const application of watchedAs(applications, seen)) {
        const isComplete = true
        application.observations.see(
          type === 'seen' ? { kind: 'seen', application: seen, isComplete } : { kind: 'deleted', application: seen },
        )
        judgeAll(application)
      }
    },
    /** A List of all applications that was asked at `askedAtMs`. */
    listed(list: ApplicationList, askedAtMs: number) {
      const byName = Map.groupBy(list.applications, ({ name }) => name)
      for (const application of [...applications.values()]) {
        const namesakes = byName.get(application.reference.name) ?? []
        application.observations.seeInList({ ...list, applications: namesakes }, askedAtMs)
        judgeAll(application)
      }
    },
    /** How many applications unfinished tasks wait for. */
    watchedApps: () => applications.size,
    /** Reads all applications directly, one after the other, for when the stream is not to be trusted. */
    readWatched() {
      for (const application of applications.values()) queueRead(application)
    },
    unreachable: () => reachability.state(),
    /** Another caller could not reach the delivery controller either. */
    checkReachability: () => reachability.checkReachability(),
    isWatched: (taskId: string) => appOfTask.has(taskId),
    watchedIds: (): readonly string[] => [...appOfTask.keys()],
    watchedCount: () => appOfTask.size,
    async [Symbol.asyncDispose]() {
      isClosed = true
      reachability.close()
      for (const id of [...appOfTask.keys()]) forget(id)
    },
  }
}

function* watchedAs(applications: ReadonlyMap<string, WatchedApplication>, { name, namespace }: ObservedApplication) {
  const candidates = [applications.get(name), applications.get(`${namespace}/${name}`)]
  for (const application of candidates) if (application !== undefined) yield application
}
