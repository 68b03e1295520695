import type { TaskResult } from '../../server/deployments/task.ts'
import type { RolloutSettings } from '../../server/rollout/judge/input/rollout-settings.ts'
import type { Fault } from './history-script.ts'
import { isOnBetween, troublesCalls, troublesStream } from './surface-faults.ts'
import { type Ailment, finalCheckMs, type TaskWitness } from './task-witness.ts'

/**
 * How a verdict compares with the truth.
 * `recovered`: right when it was given, because a documented grace had run out; the rollout got well afterwards.
 * `excused: …`: wrong for who knows everything, but the service could not know better; counted apart by the reason.
 */
export type Finding =
  | 'right'
  | 'recovered'
  | 'false deployed'
  | 'false failed'
  | 'hasty'
  | 'missed'
  | `excused: ${'older state' | 'unseen'}: ${string}`

const answeredFromPast: Finding = 'excused: older state: the Git host answered from the past'

/** A complete state that lasts this long can be seen, settled and confirmed. */
const visibleMs = 10_000
/** An event that was dropped is made up for within this time, its settling included. */
const resyncedMs = 80_000
/** What was gone at its decision may have come back since a replica of the controller last knew. */
const laggingMs = 10_000

export type VerdictView = {
  readonly witness: TaskWitness
  readonly settings: RolloutSettings
  /** With the times of the server's clock. */
  readonly faults: readonly Fault[]
  /** The first stream tells nothing of what happened before, only a List does. */
  readonly subscribedAtMs: number
  /** Whether somebody had committed another tag on top of the task's own commit by then. */
  readonly isOvertaken: boolean
  readonly isForeignImage: boolean
}

export function judgeVerdict(view: VerdictView, end: TaskResult, endedAtMs: number): Finding {
  switch (end.status) {
    case 'deployed':
      return judgeDeployed(view, endedAtMs)
    case 'cancelled':
      return view.isOvertaken || end.reason?.includes('newer task') ? 'right' : 'hasty'
    default:
      return endedAtMs < view.witness.row.task.deadlineMs ? judgeEarly(view, end, endedAtMs) : judgeAtDeadline(view)
  }
}

function judgeDeployed({ witness, faults }: VerdictView, endedAtMs: number): Finding {
  const isBy = (atMs: number | undefined) => atMs !== undefined && atMs <= endedAtMs
  if (isBy(witness.completeAtMs())) return 'right'
  if (!isBy(witness.olderCompleteAtMs())) return 'false deployed'
  const { task, acceptedAtMs, writeBackOutcome } = witness.row
  const isOn = (kind: Fault['kind']) =>
    faults.some((fault) => fault.kind === kind && isOnBetween(fault, acceptedAtMs, endedAtMs))
  const isCommitUnknown = writeBackOutcome === undefined || isOn('history-unknown')
  if (isCommitUnknown && isOn('git-steps-back')) return answeredFromPast
  if (isCommitUnknown && !task.refresh) return 'excused: older state: no refresh may be asked'
  return 'false deployed'
}

function judgeEarly(view: VerdictView, end: TaskResult, endedAtMs: number): Finding {
  const { deadlineMs } = view.witness.row.task
  const getsWell = view.witness.shown.some(
    ({ fromMs, untilMs }) => Math.min(untilMs, deadlineMs) - Math.max(fromMs, endedAtMs) >= visibleMs,
  )
  if (isDocumented(view, end, endedAtMs)) return getsWell ? 'recovered' : 'right'
  if (getsWell) return 'false failed'
  return excuseOfOldFailure(view, end, endedAtMs) ?? 'hasty'
}

/** A failure of an older commit or from before acceptance looks like one of the task that knows no commit of its own. */
function excuseOfOldFailure(
  { witness, faults }: VerdictView,
  { cause }: TaskResult,
  endedAtMs: number,
): Finding | undefined {
  const { acceptedAtMs, writeBackOutcome } = witness.row
  if (writeBackOutcome !== undefined) return undefined
  const isOn = (kind: Fault['kind'], untilMs: number) =>
    faults.some((fault) => fault.kind === kind && isOnBetween(fault, acceptedAtMs, untilMs))
  if (isOn('git-steps-back', endedAtMs)) return answeredFromPast
  const isSync = cause === 'sync_error' || cause === 'hook_failed' || cause === 'terminated'
  if (isSync && isOn('hold-replica', acceptedAtMs))
    return 'excused: older state: a replica of the controller lagged at acceptance'
  return undefined
}

/** Whether what the verdict says truly was so, when it was given, for as long as it must be. */
function isDocumented({ witness, settings, isForeignImage }: VerdictView, { cause }: TaskResult, endedAtMs: number) {
  const lasted = (ailment: Ailment, graceMs: number) => (witness.longestMs(ailment, endedAtMs) ?? -1) >= graceMs
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
    case 'unschedulable':
    case 'volume_unavailable':
    case 'quota_exceeded':
    case 'admission_denied':
      return isDegraded
    case 'rollout_aborted':
    case 'analysis_failed':
      return isDegraded || lasted('rollout_aborted', 0)
    case 'image_pull':
    case 'crash_loop':
    case 'container_config':
      return isDegraded || lasted('bad_pod', settings.badPodGraceMs)
    case 'image_name':
      return isDegraded || lasted('invalid_image', 0)
    case 'app_gone':
      return lasted('gone', settings.appGoneGraceMs)
    case 'app_not_found':
      return witness.wasGoneSince(endedAtMs - laggingMs)
    case 'image_not_in_application':
      return isForeignImage
    default:
      return false
  }
}

/** At the deadline one direct read is enough to see what the controller shows. */
function judgeAtDeadline(view: VerdictView): Finding {
  const { witness, faults } = view
  const { deadlineMs } = witness.row.task
  if ((witness.completeAtMs() ?? Number.POSITIVE_INFINITY) > deadlineMs) return 'right'
  const isTroubled = (fromMs: number, untilMs: number) =>
    faults.some((fault) => troublesCalls(fault) && isOnBetween(fault, fromMs, untilMs))
  const isShown = witness.shown.some(
    ({ fromMs, untilMs }) => fromMs <= deadlineMs - visibleMs && untilMs >= deadlineMs + finalCheckMs,
  )
  if (isShown && !isTroubled(deadlineMs - visibleMs, deadlineMs + visibleMs)) return 'false failed'
  const lasting = witness.shown.filter(({ fromMs, untilMs }) => Math.min(untilMs, deadlineMs) - fromMs >= visibleMs)
  if (lasting.length === 0) return 'excused: unseen: the controller did not show it for ten seconds'
  if (lasting.some((stretch) => mustBeSeen(view, stretch))) return 'missed'
  const isThroughout = lasting.every(({ fromMs, untilMs }) => isTroubled(fromMs, Math.min(untilMs, deadlineMs)))
  return isThroughout ? 'excused: unseen: calls failed' : 'excused: unseen: the stream and Lists lagged'
}

/** Whether calls worked while it was shown, and it was shown for long enough even if the stream did not. */
function mustBeSeen(
  { witness, faults, subscribedAtMs }: VerdictView,
  { fromMs, untilMs }: TaskWitness['shown'][number],
): boolean {
  const endMs = Math.min(untilMs, witness.row.task.deadlineMs)
  const during = (is: (fault: Fault) => boolean, lastingMs: number) =>
    faults.some((fault) => is(fault) && isOnBetween(fault, fromMs - lastingMs, endMs))
  if (during(troublesCalls, 0) || during(({ kind }) => kind === 'hold-replica', 0)) return false
  const mayBeLost = fromMs <= subscribedAtMs || during(troublesStream, resyncedMs)
  return endMs - fromMs >= (mayBeLost ? resyncedMs : 2 * visibleMs)
}
