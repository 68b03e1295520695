import type { TaskEnd } from '../../server/deployments/task.ts'
import type { RolloutSettings } from '../../server/rollout/rollout-settings.ts'
import type { Fault } from './history-script.ts'
import { troublesCalls } from './surface-faults.ts'
import { lastLookMs, type TaskWitness } from './task-witness.ts'

/**
 * How a verdict compares with the truth.
 * `recovered`: right when it was given, because a documented grace had run out; the rollout got well afterwards.
 */
export type Finding = 'right' | 'recovered' | 'false deployed' | 'false failed' | 'hasty' | 'missed' | 'late'

/** A complete state that lasts this long can be seen, settled and confirmed. */
const visibleMs = 10_000
/** An event that was dropped is made up for within this time, its settling included. */
const resyncedMs = 80_000

export type VerdictView = {
  readonly witness: TaskWitness
  readonly settings: RolloutSettings
  /** With the times of the server's clock. */
  readonly faults: readonly Fault[]
  /** Whether somebody committed another tag after the task's own commit. */
  readonly isOvertaken: boolean
}

export function judgeVerdict(view: VerdictView, end: TaskEnd, endedAtMs: number): Finding {
  switch (end.status) {
    case 'deployed': {
      const completeAtMs = view.witness.completeAtMs()
      return completeAtMs !== undefined && completeAtMs <= endedAtMs ? 'right' : 'false deployed'
    }
    case 'cancelled':
      return view.isOvertaken || end.reason?.includes('newer task') || end.reason?.includes('before its commit')
        ? 'right'
        : 'hasty'
    default:
      return endedAtMs < view.witness.row.task.deadlineMs
        ? judgeEarly(view, end, endedAtMs)
        : judgeAtDeadline(view, end)
  }
}

function judgeEarly(view: VerdictView, end: TaskEnd, endedAtMs: number): Finding {
  const { deadlineMs } = view.witness.row.task
  const getsWell = view.witness.shown.some(
    ({ fromMs, untilMs }) => Math.min(untilMs, deadlineMs) - Math.max(fromMs, endedAtMs) >= visibleMs,
  )
  if (isDocumented(view, end)) return getsWell ? 'recovered' : 'right'
  return getsWell ? 'false failed' : 'hasty'
}

/** Whether what the verdict says truly was so for as long as it must be. */
function isDocumented({ witness, settings }: VerdictView, { cause }: TaskEnd): boolean {
  const lasted = (ailment: Parameters<TaskWitness['longestMs']>[0], graceMs: number) =>
    (witness.longestMs(ailment) ?? -1) >= graceMs
  const isDegraded = lasted('degraded', settings.degradedGraceMs)
  switch (cause) {
    case 'git_refused':
      return witness.row.script.push === 'is refused'
    case 'sync_error':
    case 'hook_failed':
    case 'terminated':
      return lasted('sync_failed', settings.syncFailedGraceMs)
    case 'auto_sync_stopped':
      return lasted('sync_given_up', settings.syncFailedGraceMs)
    case 'comparison_error':
      return lasted('comparison_error', settings.comparisonErrorGraceMs)
    case 'degraded':
    case 'probe_failing':
      return isDegraded
    case 'image_pull':
    case 'crash_loop':
    case 'container_config':
      return isDegraded || lasted('bad_pod', settings.badPodGraceMs)
    case 'image_name':
      return isDegraded || lasted('invalid_image', 0)
    case 'app_gone':
      return lasted('gone', settings.appGoneGraceMs)
    case 'app_not_found':
      return lasted('gone', 0)
    case 'image_not_in_application':
      return witness.row.script.wants === 'both'
    default:
      return false
  }
}

/** At the deadline one direct read is enough to see what the controller shows. */
function judgeAtDeadline({ witness, faults }: VerdictView, end: TaskEnd): Finding {
  const { deadlineMs } = witness.row.task
  const isTroubled = (fromMs: number, untilMs: number) =>
    faults.some((fault) => troublesCalls(fault) && fault.fromMs <= untilMs && fault.fromMs + fault.forMs >= fromMs)
  const isShown = witness.shown.some(
    ({ fromMs, untilMs }) => fromMs <= deadlineMs - visibleMs && untilMs >= deadlineMs + lastLookMs,
  )
  // What direct reads do not tell at the deadline cannot be confirmed.
  if (isShown && end.cause !== 'git_refused' && !isTroubled(deadlineMs - visibleMs, deadlineMs + visibleMs))
    return 'false failed'
  const wasShown = witness.shown.find(({ fromMs, untilMs }) => Math.min(untilMs, deadlineMs) - fromMs >= resyncedMs)
  // A replica that stands still for longer than that shows nothing in Lists either.
  const isHeld = faults.some(({ kind }) => kind === 'hold-replica')
  return wasShown !== undefined && !isHeld && !isTroubled(wasShown.fromMs, wasShown.untilMs) ? 'missed' : 'right'
}
