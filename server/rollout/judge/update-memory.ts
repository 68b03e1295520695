import { appliedImages, isOperationActive, type ObservedApplication } from '../observed/observed-application.ts'
import { updateWorkloads } from './conditions/applied-images.ts'
import { isChangeWitnessed } from './conditions/change-since-baseline.ts'
import { isErrorUnbroken } from './conditions/conditions.ts'
import type { Evaluation } from './conditions/evaluate.ts'
import { isImageRunning } from './conditions/image-reference.ts'
import { rememberBadPods } from './conditions/judge-pods.ts'
import { degradedKey } from './conditions/suspect.ts'
import { isAwaitingCommit } from './input/judge-input.ts'
import { rememberRestarts } from './input/pod-restarts.ts'
import { continueSince, type RolloutMemory, startMemory, type TrackedState } from './input/rollout-memory.ts'
import type { RolloutObservation } from './input/rollout-observation.ts'
import type { Baseline } from './input/watched-task.ts'
import { isOperating } from './verdicts/judge-active-operation.ts'
import { isSyncFailing } from './verdicts/sync-failure.ts'

/** First look, re-creation, comparisons since the baseline, and the arrival of our commit. */
export function rememberApplication(
  memory: RolloutMemory,
  newest: ObservedApplication,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const known = memory.baseline?.uid === newest.uid ? memory : startAnew(memory, newest, observation, nowMs)
  const withCommit = rememberAnswer(rememberRefresh(rememberCommit(known, observation), observation), observation)
  const remembered = rememberResources(withCommit, newest, observation, nowMs)
  const { comparisons, baseline } = remembered
  const { reconciledAtMs } = newest
  const isNew = reconciledAtMs !== undefined && reconciledAtMs > (comparisons.at(-1) ?? baseline?.reconciledAtMs ?? 0)
  return {
    ...remembered,
    workloads: updateWorkloads(remembered.workloads, newest),
    comparisons: isNew ? [...comparisons, reconciledAtMs].slice(-2) : comparisons,
  }
}

/** What was Degraded from the start, and restarts as the trees that were read since then show them. */
function rememberResources(
  memory: RolloutMemory,
  { resources, operation }: ObservedApplication,
  { tree }: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const degraded = resources.filter(({ health }) => health === 'Degraded').map(degradedKey)
  const degradedBefore = memory.degradedBefore.filter((key) => degraded.includes(key))
  const restarts =
    tree?.value !== undefined && isNewTree(memory, tree.askedAtMs)
      ? rememberRestarts(memory.restarts, tree.value.pods, operation?.startedAtMs, nowMs)
      : memory.restarts
  return { ...memory, degradedBefore, restarts }
}

/** Another task may have had it read before this one began. */
const isNewTree = ({ judgedTreeAtMs, startedAtMs }: RolloutMemory, askedAtMs: number) =>
  askedAtMs !== judgedTreeAtMs && askedAtMs >= startedAtMs

function startAnew(
  memory: RolloutMemory,
  newest: ObservedApplication,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const isFirst = memory.baseline === undefined
  // It is unknown whether a re-created application has seen our commit already.
  const isBeforeCommit = isFirst && observation.writeBack.kind !== 'ended'
  const seen = baselineOf(newest, isBeforeCommit)
  const baseline = memory.wasAbsent ? { ...seen, ...nothingBefore } : seen
  const refreshFromMs = isFirst ? memory.refreshFromMs : nowMs
  return {
    ...startMemory(baseline, nowMs),
    startedAtMs: memory.startedAtMs,
    refreshFromMs,
    reported: memory.reported,
  }
}

/** Of an application that appeared while its task waited: no image, operation or failure is from before. */
const nothingBefore = { revisions: [], images: [], reconciledAtMs: undefined, operation: undefined, degraded: [] }

function baselineOf(application: ObservedApplication, isBeforeCommit: boolean): Baseline {
  const { uid, version, revisions, reconciledAtMs, images } = application
  const operation = application.operation && {
    startedAtMs: application.operation.startedAtMs,
    isOver: !isOperationActive(application),
  }
  const degraded = application.resources.filter(({ health }) => health === 'Degraded').map(degradedKey)
  return { uid, version, revisions, reconciledAtMs, images, operation, isBeforeCommit, degraded }
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
export function updateMemory(memory: RolloutMemory, evaluation: Evaluation): RolloutMemory {
  const { conditions, observation, nowMs, badPods: bad } = evaluation
  const { tree } = observation
  const operation = evaluation.application.operation
  const failedOperation = `${operation?.startedAtMs} ${operation?.finishedAtMs}`
  const { sync_failed, comparison_error, ...others } = memory.since
  const since = {
    ...others,
    ...(failedOperation === memory.failedOperation ? { sync_failed } : {}),
    ...(isErrorUnbroken(memory.errors, evaluation.appErrors) ? { comparison_error } : {}),
  }
  return {
    ...memory,
    failedOperation,
    errors: evaluation.appErrors,
    hasReached: memory.hasReached || (conditions.isMet('revision') && !isAwaitingCommit(evaluation)),
    wasWitnessed: isChangeWitnessed(evaluation),
    since: continueSince(since, statesOf(evaluation), nowMs),
    conditionSince: continueConditions(memory, evaluation),
    judgedTreeAtMs: tree?.askedAtMs,
    badPods:
      tree !== undefined && bad !== undefined && isNewTree(memory, tree.askedAtMs)
        ? rememberBadPods(memory.badPods, bad, nowMs)
        : memory.badPods,
  }
}

/** A rollout passes the conditions in their order; what is met while one before it has never been is from before the commit. */
function continueConditions(
  { conditionSince }: RolloutMemory,
  evaluation: Evaluation,
): RolloutMemory['conditionSince'] {
  const { conditions, nowMs } = evaluation
  let isReached = !isAwaitingCommit(evaluation)
  const times = conditions.all.map(({ name, state }) => {
    const before = conditionSince.get(name)
    const firstMetMs = before?.firstMetMs ?? (isReached && state === 'met' ? nowMs : undefined)
    isReached &&= firstMetMs !== undefined
    return [name, { state, sinceMs: before?.state === state ? before.sinceMs : nowMs, firstMetMs }] as const
  })
  return new Map(times)
}

/**
 * Without a commit of its own the application may have been Degraded before, or by the change of another task: it counts once
 * all requested images are there.
 */
function isDegradedByTask({ application, commit, task, settings }: Evaluation): boolean {
  if (application.healthStatus !== 'Degraded') return false
  const there = [...application.images, ...appliedImages(application)]
  return commit !== undefined || task.images.every((image) => isImageRunning(image, there, settings))
}

function statesOf(evaluation: Evaluation): ReadonlySet<TrackedState> {
  const { application, conditions, observation } = evaluation
  const isGone = observation.known.isGone || application.isDeleting
  const isAwaiting = isAwaitingCommit(evaluation)
  const isReached = conditions.isMet('revision') && !isGone && !isAwaiting
  const isIdle = !isOperationActive(application)
  const states: readonly (readonly [TrackedState, boolean])[] = [
    ['gone', isGone],
    ['complete', conditions.areMet && !isAwaiting],
    ['degraded', isReached && conditions.isMet('synced') && isIdle && isDegradedByTask(evaluation)],
    ['progressing', isReached && application.healthStatus === 'Progressing'],
    ['comparison_error', evaluation.appErrors.length > 0 && !isAwaiting && !isGone],
    ['sync_failed', !isAwaiting && !isGone && isSyncFailing(evaluation, conditions)],
    ['idle_out_of_sync', !isGone && isIdle && conditions.isMet('revision') && application.syncStatus === 'OutOfSync'],
    ['images_unmet', isReached && conditions.othersAreMet && !conditions.isMet('images')],
    ['awaiting_comparison', isReached && isIdle && !conditions.isMet('compared_after_operation')],
    ['refresh_pending', application.isRefreshPending],
    ['awaiting_ancestry', evaluation.missingAncestry.length > 0],
    ['operating', !isAwaiting && !isGone && isOperating(evaluation)],
  ]
  return new Set(states.flatMap(([state, holds]) => (holds ? [state] : [])))
}
