import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { WriteBackDecision } from '../../write-back/plan/plan-write-back.ts'
import type { WatchedTask, WriteBackState } from '../judge/input/watched-task.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import type { TaskReports } from './task-reports.ts'
import type { TaskState, WatchedApplication } from './watched-application.ts'

type Dependencies = Pick<
  RolloutWatcherDeps,
  'annotations' | 'clock' | 'decideWriteBack' | 'queueWriteBack' | 'onUnvalidated' | 'onError'
> & {
  readonly reports: Pick<TaskReports, 'addEvents'>
}

/** Decides what is to be committed for a task, once its application is known, and has it queued. */
export function createWriteBackDecisions({
  annotations,
  clock,
  decideWriteBack,
  queueWriteBack,
  onUnvalidated,
  onError,
  reports,
}: Dependencies) {
  const planAgain = (state: TaskState, newest: ObservedApplication) => {
    const decision = decideWriteBack(state.task, newest)
    if (decision.kind === 'write') state.plan = decision.plan
  }

  return {
    /**
     * Decides once the application is known and there, and says whether it did. After a change of owner the commit may be there
     * already; what it was made from is still needed to read override files.
     */
    decide({ observations }: WatchedApplication, state: TaskState): boolean {
      const { newest, isGone } = observations.facts.known
      if (newest === undefined || state.isOver || state.plan !== undefined) return false
      if (state.writeBack.kind === 'ended') {
        planAgain(state, newest)
        return false
      }
      if (state.writeBack.kind !== 'undecided' || isGone || newest.isDeleting) return false
      const { notes } = annotations(newest)
      const decision = decideWriteBack(state.task, newest)
      state.writeBack = stateOf(decision, clock.nowMs())
      reports.addEvents(state, [...notes.map(noteOf), ...eventsOf(decision)])
      if (decision.kind === 'monitor' && decision.why === 'no_credential') onUnvalidated?.(state.task.app)
      if (decision.kind === 'write') {
        state.plan = decision.plan
        if (decision.messageFailure)
          onError('COMMIT_MESSAGE_FORMAT failed, using the default message', decision.messageFailure, {
            task: state.task.id,
          })
        state.writes.add(() => queueWriteBack(state.task.claim, decision.plan))
      }
      return true
    },
  }
}

/** A task that has ended is not committed. */
export function initialWriteBack({ writeBackOutcome, isOverdue }: WatchedTask, nowMs: number): WriteBackState {
  if (writeBackOutcome !== undefined) return { kind: 'ended', outcome: writeBackOutcome, atMs: nowMs }
  return isOverdue ? { kind: 'monitor', why: 'overdue', note: '' } : { kind: 'undecided' }
}

function stateOf(decision: WriteBackDecision, nowMs: number): WriteBackState {
  if (decision.kind === 'write') return { kind: 'pending' }
  if (decision.kind === 'monitor') return decision
  return { kind: 'ended', outcome: decision, atMs: nowMs }
}

const noteOf = (detail: string): NewTaskEvent => ({ kind: 'note', detail })

function eventsOf(decision: WriteBackDecision): readonly NewTaskEvent[] {
  if (decision.kind === 'write') return decision.warnings.map(noteOf)
  const isSaid = decision.kind === 'monitor' && decision.note !== ''
  return isSaid ? [{ kind: 'write_back_skipped', detail: decision.note }] : []
}
