import { ancestryKey, type NextAction } from '../judge/rollout-observation.ts'
import { rolloutTimes } from '../judge/rollout-settings.ts'
import type { ControllerCalls } from './controller-calls.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import type { TaskReports } from './task-reports.ts'
import {
  briefMs,
  hasCommitsOnTheirWay,
  type QueuedCall,
  type TaskState,
  type WatchedApplication,
} from './watched-application.ts'

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
          { kind: 'refresh_requested', detail: `Argo CD refresh requested ${action.why}` },
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
      case 'pod_events':
        return calls.readPod(application, action)
      case 'ancestry':
        return lookUpAncestry(application, action)
      case 'override_at':
        return lookUpOverride(state, action.revision)
    }
  }

  const lookUpAncestry = async (application: WatchedApplication, action: NextAction & { kind: 'ancestry' }) => {
    const ancestry = await deps.ancestry(action.repository, action.commit, action.revision)
    application.ancestries.set(ancestryKey(action.commit, action.revision), { ancestry, atMs: clock.nowMs() })
  }

  const lookUpOverride = async ({ plan, overrides }: TaskState, revision: string) => {
    overrides.set(revision, undefined)
    if (plan !== undefined) overrides.set(revision, await deps.overrideAt(plan, revision))
  }

  const run = async (
    application: WatchedApplication,
    key: string,
    facts: { readonly task?: string; readonly action: NextAction['kind'] },
    work: () => Promise<void> | void,
  ) => {
    try {
      await application.flights.run(key, async () => work())
    } catch (error) {
      deps.onError('action for a task failed, retrying', error, facts)
    }
    deps.judgeAll(application)
  }

  /** One place for each application; what of it is still needed is judged when the limiter starts it. */
  const enqueue = (application: WatchedApplication) => {
    if (application.queuedCall !== undefined) return
    const queued: QueuedCall = { mayStart: false, work: undefined }
    application.queuedCall = queued
    limiter.enter(() => {
      queued.mayStart = true
      const mayRead = application.tasks.size > 0 && !isBeingRead(application) && !deps.isUnreachable()
      if (application.isReadDue && mayRead)
        queued.work = run(application, queuedKey(readKey), { action: 'read' }, () => calls.read(application))
      else deps.judgeAll(application)
      application.queuedCall = undefined
      return queued.work
    })
  }

  return {
    perform(application: WatchedApplication, state: TaskState, action: NextAction): void {
      const { flights, queuedCall } = application
      const isUrgent = isWaitedFor(state, action, clock.nowMs())
      const sharedKey = keyOf(state, action)
      // What a verdict needs does not wait for the answer to what only explains.
      const key = isUrgent ? sharedKey : queuedKey(sharedKey)
      if (flights.isRunning(sharedKey) || flights.isRunning(key)) return
      if (needsController(action) && deps.isUnreachable()) return
      const waitMs = Math.max(flights.waitMs(key), sharingWaitMs(application, action, clock.nowMs()))
      if (waitMs > 0) {
        if (action.kind === 'refresh') application.refreshHeldSinceMs ??= clock.nowMs()
        deps.scheduleEvaluation(application, state, waitMs)
        return
      }
      const isPaced = isUrgent && isOneOfMany(state, action, clock.nowMs())
      const start = () =>
        run(application, key, { task: state.task.id, action: action.kind }, async () => {
          if (isPaced) await limiter.take()
          await act(application, state, action)
        })
      if (isUrgent) {
        if (!isPaced && needsController(action)) limiter.spend()
        void start()
      } else if (queuedCall?.mayStart && queuedCall.work === undefined) queuedCall.work = start()
      else enqueue(application)
    },

    /** Reads an application directly, for no verdict in particular. */
    queueRead(application: WatchedApplication): void {
      application.isReadDue = true
      enqueue(application)
    },
  }
}

const readKey = JSON.stringify({ kind: 'read' } satisfies NextAction)
const queuedKey = (key: string) => `${key} queued`

/** Whether a direct read of it is under way. */
export const isBeingRead = ({ flights }: Pick<WatchedApplication, 'flights'>) =>
  flights.isRunning(readKey) || flights.isRunning(queuedKey(readKey))

/** Actions of an application are one for all its tasks, whatever each wants them for. */
function keyOf({ task }: TaskState, action: NextAction): string {
  const isOfTask = action.kind === 'override_at'
  return JSON.stringify(isOfTask ? [task.id, action] : { ...action, why: undefined, isDiagnosis: undefined })
}

const needsController = ({ kind }: NextAction) => !['ancestry', 'override_at'].includes(kind)

/** Whether a verdict or a new task waits for it. All else only explains, or looks after tasks of another replica that has died. */
function isWaitedFor({ task, memory }: TaskState, action: NextAction, nowMs: number): boolean {
  if (action.kind === 'tree') return action.isDiagnosis !== true
  if (action.kind === 'sync_windows' || action.kind === 'pod_events') return false
  if (action.kind !== 'read' && action.kind !== 'refresh') return true
  return task.claim.fence === '1' || memory.candidate !== undefined || task.deadlineMs - nowMs < rolloutTimes.urgentMs
}

/** After a replica has died its tasks, and the ends they missed, come to another one all together. */
const resumingMs = 30_000

/** Whether it confirms the end of a task that has just changed hands. */
const isOneOfMany = ({ task, memory }: TaskState, { kind }: NextAction, nowMs: number): boolean =>
  kind === 'read' &&
  task.claim.fence !== '1' &&
  nowMs - memory.startedAtMs < resumingMs &&
  task.deadlineMs - nowMs >= rolloutTimes.urgentMs

/** How long a refresh waits for commits of other tasks that are on their way to the Git host. */
const commitsWaitMs = 2_000

/** How many milliseconds a call waits so that it serves more than the task that wants it. */
function sharingWaitMs(application: WatchedApplication, { kind }: NextAction, nowMs: number): number {
  const { changedAtMs = 0, refreshHeldSinceMs = nowMs } = application
  if (kind === 'refresh' && hasCommitsOnTheirWay(application)) return refreshHeldSinceMs + commitsWaitMs - nowMs
  // It decides for the snapshot that it was asked at and for no other.
  return kind === 'managed_resources' ? changedAtMs + briefMs - nowMs : 0
}
