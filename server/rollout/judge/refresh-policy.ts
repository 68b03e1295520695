import { isChangeVisible } from './conditions/change-since-baseline.ts'
import type { Evaluation } from './conditions/evaluate.ts'
import { reliesOnComparison } from './conditions/revision-condition.ts'
import type { RolloutMemory } from './input/rollout-memory.ts'
import type { DueAction, NextAction } from './input/rollout-observation.ts'
import { rolloutTimes } from './input/rollout-settings.ts'

/** Refreshes, and the reads that show what became of one. */
export function refreshActions(evaluation: Evaluation, memory: RolloutMemory): readonly DueAction[] {
  const atMs = nextRefreshAtMs(evaluation, memory)
  const refresh = atMs === undefined ? [] : [{ atMs, action: nextRefresh(evaluation, memory) }]
  return [...refresh, ...refreshReads(evaluation, memory)]
}

/** When the next refresh is due, in milliseconds on the judge's clock; `undefined`: none is needed as things stand. */
export function nextRefreshAtMs(evaluation: Evaluation, memory: RolloutMemory): number | undefined {
  const { task, observation } = evaluation
  const { lastAskedAtMs = -Infinity, pending } = observation.refresh
  const { refresh_pending: runningSinceMs = -Infinity, awaiting_ancestry: ancestryAskedMs = -Infinity } = memory.since
  if (!task.refresh) return undefined
  const dues = [revisionDueMs(evaluation, memory), comparisonDueMs(memory)].filter((due) => due !== undefined)
  if (dues.length === 0) return undefined
  return Math.max(
    Math.min(...dues),
    lastAskedAtMs + rolloutTimes.refreshApartMs,
    // A refresh requested while another client's is running would be dropped and answered with its result.
    pending === undefined ? runningSinceMs + rolloutTimes.foreignRefreshMs : -Infinity,
    // What is shown may well hold the commit, and after a restart that is unknown of every application.
    ancestryAskedMs + rolloutTimes.ancestryMs,
  )
}

function revisionDueMs(evaluation: Evaluation, memory: RolloutMemory): number | undefined {
  if (evaluation.observation.writeBack.kind !== 'ended') return ownComparisonDueMs(evaluation, memory)
  if (evaluation.conditions.isMet('revision')) return undefined
  const { refreshFromMs: fromMs, refreshAsks: asks, refreshAskedAtMs: askedAtMs } = memory
  if (asks === 0 || askedAtMs === undefined) return fromMs
  const again = rolloutTimes.refreshAgainMs[asks - 1]
  return again === undefined ? askedAtMs + rolloutTimes.refreshEveryMs : Math.max(fromMs + again, askedAtMs)
}

/** One that proves something, as soon as that can be told; then more of them until the change of another committer shows. */
function ownComparisonDueMs(evaluation: Evaluation, memory: RolloutMemory): number | undefined {
  const { task, conditions, observation } = evaluation
  const { refreshFromMs: fromMs, refreshAsks: asks, refreshAskedAtMs: askedAtMs } = memory
  if (conditions.isMet('revision') && isChangeVisible(evaluation)) return undefined // also by what an earlier owner was answered
  const { refreshIdleAtMs, pending, answered } = observation.refresh
  // None was under way at some time since this task needs one, so that one asked now proves something.
  const isIdle = isSince(refreshIdleAtMs, fromMs)
  if (asks === 0 || askedAtMs === undefined) return isIdle ? fromMs : fromMs + rolloutTimes.foreignRefreshMs
  const wasIdle = isSince((pending ?? answered)?.beganAfterMs, fromMs)
  return isIdle && !wasIdle ? fromMs : nextRefreshMs(askedAtMs, task.acceptedAtMs)
}

/**
 * A pipeline may push after it submits, and without a webhook Argo CD itself looks every two to three minutes: refreshes follow
 * each other quickly at first, then less often the older the task is.
 */
function nextRefreshMs(askedAtMs: number, acceptedAtMs: number): number {
  const ageMs = askedAtMs - acceptedAtMs
  if (ageMs < rolloutTimes.secondRefreshMs) return acceptedAtMs + rolloutTimes.secondRefreshMs
  const pace = rolloutTimes.laterRefreshes.find(({ untilAgeMs }) => ageMs < untilAgeMs)
  return askedAtMs + (pace?.everyMs ?? rolloutTimes.lateRefreshEveryMs)
}

/** One refresh for one missing comparison: another only after the usual long wait. */
function comparisonDueMs({ since, refreshAskedAtMs: askedAtMs }: RolloutMemory): number | undefined {
  const { awaiting_comparison: sinceMs } = since
  if (sinceMs === undefined) return undefined
  const wasAsked = askedAtMs !== undefined && askedAtMs > sinceMs
  return wasAsked ? askedAtMs + rolloutTimes.refreshEveryMs : sinceMs + rolloutTimes.postOperationWaitMs
}

/** Argo CD drops a refresh that is asked while one is running, so a read first tells whether the last one is over. */
function nextRefresh({ observation, conditions }: Evaluation, { since }: RolloutMemory): NextAction {
  const { refresh, directRead } = observation
  const acceptedAtMs = refresh.pending?.acceptedAtMs
  if (acceptedAtMs !== undefined && !isSince(directRead?.askedAtMs, acceptedAtMs)) return { kind: 'read' }
  const isCompared = !conditions.isMet('revision') || since.awaiting_comparison === undefined
  return { kind: 'refresh', why: isCompared ? 'to see the newest commit' : 'no comparison after the operation' }
}

/**
 * The events that show the end of a refresh, ours or another's, may have been lost, and with them what the comparison found. Where
 * a refresh is to prove something, only a direct read shows besides that none was under way before it.
 */
function refreshReads(evaluation: Evaluation, { since, refreshFromMs }: RolloutMemory): readonly DueAction[] {
  const { task, conditions, observation } = evaluation
  const { pending, refreshIdleAtMs } = observation.refresh
  if (conditions.isMet('revision') || !task.refresh) return []
  const isProof = reliesOnComparison(evaluation)
  const earlierMs = observation.directRead?.askedAtMs ?? -Infinity
  const runningSinceMs = pending?.acceptedAtMs ?? (isProof ? since.refresh_pending : undefined)
  if (runningSinceMs !== undefined)
    return [{ atMs: Math.max(runningSinceMs, earlierMs) + rolloutTimes.refreshLostMs, action: { kind: 'read' } }]
  if (!isProof || isSince(refreshIdleAtMs, refreshFromMs)) return []
  return [{ atMs: Math.max(refreshFromMs, earlierMs + rolloutTimes.idleReadApartMs), action: { kind: 'read' } }]
}

const isSince = (atMs: number | undefined, fromMs: number) => atMs !== undefined && atMs >= fromMs
