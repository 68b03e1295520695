import { wantedRelations } from './gate-revision.ts'
import { errorConditionsOf, type GateContext, isErrorUnbroken, isOperationActive } from './gates.ts'
import { isImageRunning } from './image-reference.ts'
import { isSyncFailing } from './judge-failure.ts'
import type { Gates } from './judge-gates.ts'
import { findBadPods, rememberBadPods } from './judge-pods.ts'
import { isIdleOutOfSync } from './judge-waiting.ts'
import { appliedImages } from './last-operation.ts'
import { isAwaitingCommit } from './look.ts'
import type { ObservedApplication } from './observed-application.ts'
import { continueSince, type RolloutMemory, startMemory, type TrackedState } from './rollout-memory.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import type { Baseline } from './watched-task.ts'

/** First look, re-creation, comparisons since the baseline, and the arrival of our commit. */
export function rememberLook(
  memory: RolloutMemory,
  newest: ObservedApplication,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const known = memory.baseline?.uid === newest.uid ? memory : startAnew(memory, newest, observation, nowMs)
  const withCommit = rememberAnswer(rememberRefresh(rememberCommit(known, observation), observation), observation)
  const reconciledAtMs = newest.reconciledAtMs
  const isNew =
    reconciledAtMs !== undefined &&
    reconciledAtMs > (withCommit.comparisons.at(-1) ?? withCommit.baseline?.reconciledAtMs ?? 0)
  return isNew ? { ...withCommit, comparisons: [...withCommit.comparisons, reconciledAtMs].slice(-2) } : withCommit
}

function startAnew(
  memory: RolloutMemory,
  newest: ObservedApplication,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const isFirst = memory.baseline === undefined
  // Of a re-created application nobody knows whether it has seen our commit already.
  const isBeforeCommit = isFirst && observation.writeBack.kind !== 'ended'
  const baseline = baselineOf(newest, isBeforeCommit)
  const refreshFromMs = isFirst ? memory.refreshFromMs : nowMs
  return { ...startMemory(baseline, nowMs), startedAtMs: memory.startedAtMs, refreshFromMs, told: memory.told }
}

function baselineOf(application: ObservedApplication, isBeforeCommit: boolean): Baseline {
  const { uid, version, revisions, reconciledAtMs, images } = application
  const operation = application.operation && {
    startedAtMs: application.operation.startedAtMs,
    isOver: !isOperationActive(application),
  }
  return { uid, version, revisions, reconciledAtMs, images, operation, isBeforeCommit }
}

function rememberCommit(memory: RolloutMemory, { writeBack }: RolloutObservation): RolloutMemory {
  if (writeBack.kind !== 'ended' || memory.refreshFromMs >= writeBack.atMs) return memory
  return { ...memory, refreshFromMs: writeBack.atMs, refreshAsks: 0, refreshAnswers: 0, hasReached: false }
}

/** Only comparisons that began since this task needs them say something about it. */
function rememberAnswer(
  memory: RolloutMemory,
  { refresh: { answered }, writeBack }: RolloutObservation,
): RolloutMemory {
  const beganAfterMs = answered?.beganAfterMs ?? -Infinity
  if (answered === memory.answeredRefresh || beganAfterMs < memory.refreshFromMs) return memory
  return {
    ...memory,
    answeredRefresh: answered,
    refreshAnswers: memory.refreshAnswers + 1,
    baseline: withComparison(memory.baseline, answered?.version, writeBack),
  }
}

/** A commit of ours, also one still to come, would need a comparison of its own. */
function withComparison(
  baseline: Baseline | undefined,
  version: number | undefined,
  { kind }: RolloutObservation['writeBack'],
): Baseline | undefined {
  if (baseline === undefined || version === undefined || kind !== 'monitor') return baseline
  const isFirst = baseline.comparedVersion === undefined && version > baseline.version
  return isFirst ? { ...baseline, comparedVersion: version } : baseline
}

/** Refreshes are shared by all tasks of an application; those asked since this one needs them count. */
function rememberRefresh(memory: RolloutMemory, { refresh }: RolloutObservation): RolloutMemory {
  const askedAtMs = refresh.lastAskedAtMs
  if (askedAtMs === undefined || askedAtMs < memory.refreshFromMs || askedAtMs === memory.refreshAskedAtMs)
    return memory
  return { ...memory, refreshAsks: memory.refreshAsks + 1, refreshAskedAtMs: askedAtMs }
}

/** What lasts, since when, and which Pods are bad. */
export function remember(
  memory: RolloutMemory,
  context: GateContext,
  gates: Gates,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const { tree } = observation
  // Another task may have had it read before this one began.
  const isNewTree =
    tree !== undefined && tree.askedAtMs !== memory.judgedTreeAtMs && tree.askedAtMs >= memory.startedAtMs
  const bad = tree?.value === undefined ? undefined : findBadPods(tree.value, context.wanted, context.settings)
  const operation = context.application.operation
  const failedOperation = `${operation?.startedAtMs} ${operation?.finishedAtMs}`
  const errors = errorConditionsOf(context.application)
  const { sync_failed, comparison_error, ...others } = memory.since
  const since = {
    ...others,
    ...(failedOperation === memory.failedOperation ? { sync_failed } : {}),
    ...(isErrorUnbroken(memory.errors, errors) ? { comparison_error } : {}),
  }
  return {
    ...memory,
    failedOperation,
    errors,
    hasReached: memory.hasReached || (gates.isOpen('R') && !isAwaitingCommit({ observation })),
    since: continueSince(since, holdingConditions(context, gates, observation), nowMs),
    judgedTreeAtMs: tree?.askedAtMs,
    badPods: isNewTree && bad !== undefined ? rememberBadPods(memory.badPods, bad, nowMs) : memory.badPods,
  }
}

/**
 * Without a commit of ours the application may have been Degraded before, or by the change of another task: it counts once all
 * requested images are there.
 */
function isDegradedByTask({ application, commit, wanted, settings }: GateContext): boolean {
  if (application.healthStatus !== 'Degraded') return false
  const there = [...application.images, ...appliedImages(application)]
  return commit !== undefined || wanted.every((image) => isImageRunning(image, there, settings))
}

function holdingConditions(
  context: GateContext,
  gates: Gates,
  observation: RolloutObservation,
): ReadonlySet<TrackedState> {
  const { application } = context
  const isGone = observation.known.isGone || application.isDeleting
  const isReached = gates.isOpen('R') && !isGone && !isAwaitingCommit({ observation })
  const isIdle = !isOperationActive(application)
  const conditions: readonly (readonly [TrackedState, boolean])[] = [
    ['gone', isGone],
    ['complete', gates.areOpen && !isGone && !isAwaitingCommit({ observation })],
    ['degraded', isReached && gates.isOpen('S') && isIdle && isDegradedByTask(context)],
    ['progressing', isReached && application.healthStatus === 'Progressing'],
    ['comparison_error', errorConditionsOf(application).length > 0 && !isAwaitingCommit({ observation }) && !isGone],
    ['sync_failed', !isAwaitingCommit({ observation }) && !isGone && isSyncFailing(context, gates)],
    ['idle_out_of_sync', !isGone && isIdleOutOfSync(context, gates)],
    ['images_unmet', isReached && gates.othersAreOpen && !gates.isOpen('I')],
    ['awaiting_comparison', isReached && isIdle && !gates.isOpen('P')],
    ['refresh_pending', application.isRefreshPending],
    ['awaiting_ancestry', wantedRelations(context).length > 0],
  ]
  return new Set(conditions.flatMap(([condition, holds]) => (holds ? [condition] : [])))
}
