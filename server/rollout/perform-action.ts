import { createCallTurns } from './call-turns.ts'
import type { ControllerCalls } from './controller-calls.ts'
import { relationKey, type WantedAction } from './rollout-observation.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import { sharingWaitMs } from './sharing-wait.ts'
import type { TaskReports } from './task-reports.ts'
import type { TaskState, WatchedApplication } from './watched-application.ts'
import type { WriteBackDecisions } from './write-back-decisions.ts'

type Dependencies<Plan> = Pick<RolloutWatcherDeps<Plan>, 'clock' | 'paces' | 'relation' | 'overrideAt' | 'onError'> & {
  readonly calls: ControllerCalls<Plan>
  readonly reports: Pick<TaskReports<Plan>, 'tell'>
  readonly writeBacks: Pick<WriteBackDecisions<Plan>, 'decide'>
  isUnreachable(): boolean
  /** Looks at a task again after a time, unless something else does sooner. */
  lookAgain(application: WatchedApplication<Plan>, state: TaskState<Plan>, delayMs: number): void
  judgeAll(application: WatchedApplication<Plan>): void
}

/** Does what a judgement wants, unless just that is under way. What it finds wakes all tasks of the application. */
export function createPerformAction<Plan>(deps: Dependencies<Plan>) {
  const { clock, calls } = deps
  const turns = createCallTurns(deps.paces)

  const act = async (
    application: WatchedApplication<Plan>,
    state: TaskState<Plan>,
    action: WantedAction,
  ): Promise<void> => {
    switch (action.kind) {
      case 'read':
        return calls.read(application)
      case 'refresh':
        deps.reports.tell(state, [{ kind: 'refresh_requested', detail: `refresh asked ${action.why}` }])
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
      case 'decide_write_back':
        return deps.writeBacks.decide(application, state)
      case 'relation':
        return lookUpRelation(application, action)
      case 'override_at':
        return lookUpOverride(state, action.revision)
    }
  }

  const lookUpRelation = async (application: WatchedApplication<Plan>, action: WantedAction & { kind: 'relation' }) => {
    const relation = await deps.relation(action.repository, action.commit, action.revision)
    application.relations.set(relationKey(action.commit, action.revision), { relation, atMs: clock.nowMs() })
  }

  const lookUpOverride = async ({ plan, overrides }: TaskState<Plan>, revision: string) => {
    overrides.set(revision, undefined)
    if (plan !== undefined) overrides.set(revision, await deps.overrideAt(plan, revision))
  }

  return (application: WatchedApplication<Plan>, state: TaskState<Plan>, action: WantedAction): void => {
    const key = keyOf(state, action)
    if (application.inFlight.has(key) || (needsController(action) && deps.isUnreachable())) return
    const nowMs = clock.nowMs()
    const waitMs = Math.max(
      application.throttle.waitMs(key),
      sharingWaitMs(application, action, nowMs),
      turns.waitMs(application, state, action, nowMs),
    )
    if (waitMs > 0) {
      if (action.kind === 'refresh') application.refreshHeldSinceMs ??= nowMs
      deps.lookAgain(application, state, waitMs)
      return
    }
    application.throttle.started(key)
    application.inFlight.add(key)
    act(application, state, action)
      .catch((error: unknown) => {
        application.throttle.failed(key)
        deps.onError('action for a task failed, retrying', error, { task: state.task.id, action: action.kind })
      })
      .finally(() => {
        application.inFlight.delete(key)
        deps.judgeAll(application)
      })
  }
}

/** Whether a direct read of it is under way. */
export const isBeingRead = ({ inFlight }: Pick<WatchedApplication<unknown>, 'inFlight'>) =>
  inFlight.has(JSON.stringify({ kind: 'read' } satisfies WantedAction))

/** Actions of an application are one for all its tasks, whatever each wants them for. */
function keyOf({ task }: TaskState<unknown>, action: WantedAction): string {
  const isOfTask = action.kind === 'decide_write_back' || action.kind === 'override_at'
  return JSON.stringify(isOfTask ? [task.id, action] : { ...action, why: undefined, diagnosis: undefined })
}

const needsController = ({ kind }: WantedAction) => !['decide_write_back', 'relation', 'override_at'].includes(kind)
