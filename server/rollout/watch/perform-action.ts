import { hasEarlierOwner } from '../../deployments/task.ts'
import type { NextAction } from '../judge/input/rollout-observation.ts'
import { rolloutTimes } from '../judge/input/rollout-settings.ts'
import type { WatchedTask } from '../judge/input/watched-task.ts'
import type { ControllerCalls } from './controller-calls.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import type { TaskReports } from './task-reports.ts'
import { hasCommitsOnTheirWay, shareWindowMs, type TaskState, type WatchedApplication } from './watched-application.ts'

type Dependencies = Pick<RolloutWatcherDeps, 'clock' | 'limiter' | 'ancestry' | 'overrideAt' | 'onError'> & {
  readonly calls: ControllerCalls
  readonly reports: Pick<TaskReports, 'addEvents'>
  isUnreachable(): boolean
  /** Evaluates a task again after a time, unless something else does sooner. */
  scheduleEvaluation(application: WatchedApplication, state: TaskState, delayMs: number): void
  judgeAll(application: WatchedApplication): void
}

/** Does an action of a judgement, unless just that is under way. What it finds wakes all tasks of the application. */
export function createPerformAction(deps: Dependencies) {
  const { clock, calls, limiter } = deps

  const act = async (application: WatchedApplication, state: TaskState, action: NextAction): Promise<void> => {
    switch (action.kind) {
      case 'read':
        return calls.read(application)
      case 'refresh':
        deps.reports.addEvents(state, [
          { kind: 'refresh_requested', detail: `Argo CD refresh requested ${action.why}`, data: { refresh: true } },
        ])
        return calls.refresh(application)
      case 'list':
        return calls.list(application)
      case 'tree':
        return calls.readTree(application)
      case 'managed_resources':
        return calls.readManagedResources(application)
      case 'sync_windows':
        return calls.readSyncWindows(application)
      case 'events':
        return calls.readEvents(application, action)
      case 'live_pod':
        return calls.readLivePod(application, action)
      case 'ancestry':
        return lookUpAncestry(application, action)
      case 'override_at':
        return lookUpOverride(state, action.revision)
    }
  }

  const lookUpAncestry = async (application: WatchedApplication, action: NextAction & { kind: 'ancestry' }) => {
    const ancestry = await deps.ancestry(action.repository, action.commit, action.revision)
    application.observations.keepAncestry(action.commit, action.revision, ancestry)
  }

  const lookUpOverride = async ({ plan, overrides }: TaskState, revision: string) => {
    overrides.set(revision, undefined)
    if (plan !== undefined) overrides.set(revision, await deps.overrideAt(plan, revision))
  }

  const run = async (
    application: WatchedApplication,
    key: string,
    facts: { readonly task?: string; readonly action: NextAction['kind'] },
    work: () => Promise<void>,
  ) => {
    try {
      await application.throttle.run(key, work)
    } catch (error) {
      deps.onError('action for a task failed, retrying', error, facts)
    }
    deps.judgeAll(application)
  }

  const start = (application: WatchedApplication, { key, state, action }: Needed) =>
    run(application, key, { task: state.task.id, action: action.kind }, () => act(application, state, action))

  /** A task that needs the action of this key, as it was last judged. */
  const findNeeded = (application: WatchedApplication, key: string): Needed | undefined =>
    [...application.tasks.values()]
      .filter(({ isOver }) => !isOver)
      .flatMap((state) => state.actions.map((action) => ({ state, action, ...keyOf(application, state, action) })))
      .find((needed) => needed.key === key)

  /** The action of each key waits once; whether it is still needed is asked when its turn has come. */
  const enqueue = (
    application: WatchedApplication,
    { key, isUrgent }: ActionKey,
    start: () => Promise<void> | undefined,
  ) => {
    const { queued, throttle } = application
    if (queued.has(key)) return
    queued.add(key)
    const startUnlessRunning = () => {
      queued.delete(key)
      return throttle.isRunning(key) || deps.isUnreachable() ? undefined : start()
    }
    limiter.enter(startUnlessRunning, { isUrgent })
  }

  const keyOf = (application: WatchedApplication, state: TaskState, action: NextAction): ActionKey => {
    const isUrgent = isWaitedFor(application, state, action, clock.nowMs())
    return { key: actionKey(action, state.task.id, isUrgent), isUrgent }
  }

  return {
    perform(application: WatchedApplication, state: TaskState, action: NextAction): void {
      const { throttle } = application
      const nowMs = clock.nowMs()
      const { key, isUrgent } = keyOf(application, state, action)
      if (throttle.isRunning(key) || (needsController(action) && deps.isUnreachable())) return
      const waitMs = Math.max(throttle.waitMs(key), sharingWaitMs(application, state, action, nowMs))
      if (waitMs > 0) {
        deps.scheduleEvaluation(application, state, waitMs)
        return
      }
      const startsAtOnce = isUrgent && !isJustTakenOver(state, nowMs)
      if (startsAtOnce || !needsController(action)) void start(application, { key, state, action })
      else
        enqueue(application, { key, isUrgent }, () => {
          const needed = findNeeded(application, key)
          return needed && start(application, needed)
        })
    },

    /** Reads an application directly, for no verdict in particular. */
    queueRead(application: WatchedApplication): void {
      const queuedAtMs = clock.nowMs()
      const key = 'read for no task' // whether a task still needs it does not matter
      enqueue(application, { key, isUrgent: false }, () => {
        const { tasks, observations } = application
        const { directRead } = observations.facts
        if (tasks.size === 0 || (directRead !== undefined && directRead.askedAtMs >= queuedAtMs)) return undefined
        return run(application, key, { action: 'read' }, () => calls.read(application))
      })
    },
  }
}

type ActionKey = { readonly key: string; readonly isUrgent: boolean }
type Needed = { readonly key: string; readonly state: TaskState; readonly action: NextAction }

/**
 * What makes two actions for one application the same. What a verdict waits for does not wait for the answer to what only
 * explains, so that differs.
 */
function actionKey(action: NextAction, taskId: string, isUrgent: boolean): string {
  return [isUrgent ? 'urgent' : 'queued', action.kind, ...subjectOf(action, taskId)].join(' ')
}

function subjectOf(action: NextAction, taskId: string): readonly string[] {
  switch (action.kind) {
    case 'events':
    case 'live_pod':
      return [action.uid]
    case 'ancestry':
      return [action.repository, action.commit, action.revision]
    case 'override_at':
      return [taskId, action.revision]
    default:
      return []
  }
}

const baselineKey = actionKey({ kind: 'read' }, '', true)

/** Whether the direct read of a new task is under way. */
export const isBeingRead = ({ throttle }: Pick<WatchedApplication, 'throttle'>) => throttle.isRunning(baselineKey)

const needsController = ({ kind }: NextAction) => !['ancestry', 'override_at'].includes(kind)

/**
 * Whether a verdict or a new task waits for it. All else only explains, or looks for an application of a task that was taken
 * over, which a List is about to show.
 */
function isWaitedFor(
  { observations }: Pick<WatchedApplication, 'observations'>,
  { task, memory }: TaskState,
  action: NextAction,
  nowMs: number,
): boolean {
  switch (action.kind) {
    case 'sync_windows':
    case 'events':
    case 'live_pod':
      return false
    case 'tree':
    case 'managed_resources':
      return action.priority !== 'low'
    case 'read':
    case 'list':
      return (
        !hasEarlierOwner(task.claim) ||
        observations.facts.known.newest !== undefined ||
        memory.candidate !== undefined ||
        isLate(task, nowMs)
      )
    default:
      return true
  }
}

/** After a replica has died its tasks, and the ends that they missed, come to another one all together. */
const takeoverMs = 30_000

const isJustTakenOver = ({ task, memory }: TaskState, nowMs: number): boolean =>
  hasEarlierOwner(task.claim) && nowMs - memory.startedAtMs < takeoverMs && !isLate(task, nowMs)

const isLate = ({ deadlineMs }: WatchedTask, nowMs: number): boolean => deadlineMs - nowMs < rolloutTimes.urgentMs

/** How long a refresh waits for commits of other tasks that are on their way to the Git host. */
const commitsWaitMs = 2_000

/** How many milliseconds a call waits so that it serves more than the task that wants it. */
function sharingWaitMs(application: WatchedApplication, { memory }: TaskState, { kind }: NextAction, nowMs: number) {
  if (kind === 'refresh' && hasCommitsOnTheirWay(application)) return memory.refreshFromMs + commitsWaitMs - nowMs
  // It decides for the snapshot that it was asked at and for no other.
  return kind === 'managed_resources' ? (application.observations.facts.changedAtMs ?? 0) + shareWindowMs - nowMs : 0
}
