import type { TaskEnd } from '../deployments/task.ts'
import type { NewTaskEvent } from '../timeline/task-event.ts'
import { confirmEnding } from './confirm-ending.ts'
import { wantedImageReads } from './gate-images.ts'
import { wantedRelations } from './gate-revision.ts'
import { type AwaitedCommit, errorConditionsOf, type GateContext, isOperationActive } from './gates.ts'
import { judgeDeadline } from './judge-deadline.ts'
import { checkForeignImage, type Ending, isSyncFailing, judgeFailure, wantedOverrides } from './judge-failure.ts'
import { type Gates, judgeGates } from './judge-gates.ts'
import { findBadPods, nextTreeAtMs, rememberBadPods } from './judge-pods.ts'
import { describeWaiting, isIdleOutOfSync, judgeStandstill, nextWindowsAtMs, type Standstill } from './judge-waiting.ts'
import { endByWriteBack, judgeUnseen } from './judge-without-application.ts'
import type { ObservedApplication } from './observed-application.ts'
import { nextRefreshAtMs } from './refresh-policy.ts'
import { renderStatusReason } from './render-status-reason.ts'
import { bounded, tellChanges } from './rollout-events.ts'
import { continueSince, type LastingCondition, type RolloutMemory, startMemory } from './rollout-memory.ts'
import type { RolloutObservation, WantedAction } from './rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './rollout-settings.ts'
import { settleMs } from './settle.ts'
import type { Baseline, WatchedTask } from './watched-task.ts'

export type JudgedTask = Pick<WatchedTask, 'images' | 'refresh' | 'deadlineMs'>

/** What one look means for a task. */
export type Judgement = {
  /** Set once the task is over. */
  readonly end: TaskEnd | undefined
  readonly progress: string
  readonly wanted: readonly WantedAction[]
  readonly memory: RolloutMemory
  readonly events: readonly NewTaskEvent[]
  /** When to look again although nothing changed. What is wanted wakes the task by itself once it is done. */
  readonly againAtMs: number
}

/** Says what is known of an application means for a task. Pure: time, memory and all observations come in as arguments. */
export function judgeRollout(
  task: JudgedTask,
  memory: RolloutMemory,
  observation: RolloutObservation,
  nowMs: number,
  settings: RolloutSettings,
): Judgement {
  const ended = endByWriteBack(observation)
  if (ended !== undefined) return over(memory, ended, [])
  const { newest } = observation.known
  if (newest === undefined) return judgeUnseen(task, memory, observation, nowMs)
  const remembered = rememberLook(memory, newest, observation, nowMs)
  const context = gateContext(task, remembered, newest, observation, settings)
  const gates = judgeGates(context)
  const look: Look = {
    task,
    observation,
    settings,
    nowMs,
    context,
    gates,
    memory: remember(remembered, context, gates, observation, nowMs),
  }
  return judgeLook(look)
}

type Look = {
  readonly task: JudgedTask
  readonly observation: RolloutObservation
  readonly settings: RolloutSettings
  readonly nowMs: number
  readonly context: GateContext
  readonly gates: Gates
  readonly memory: RolloutMemory
}

function judgeLook(look: Look): Judgement {
  const { task, observation, nowMs, context, gates, memory } = look
  const standstill = judgeStandstill(context, gates, observation)
  const waiting = bounded(describeProgress(look, standstill))
  const { told, events } = tellChanges(memory.told, context.application, waiting)
  const ending = nextEnding(look, standstill)
  const confirmed = confirmEnding(memory, ending, observation, nowMs, task.deadlineMs)
  const notes = noteForeignImage(look)
  const kept = { ...confirmed.memory, told, imageCheckNoted: memory.imageCheckNoted || notes.length > 0 }
  const allEvents = [...events, ...notes]
  if (confirmed.ending !== undefined) return over(kept, endOf(look, confirmed.ending), allEvents)
  const due = dueActions(look)
  const ripe = due.filter(({ atMs }) => atMs <= nowMs).map(({ action }) => action)
  const later = due.flatMap(({ atMs }) => (atMs > nowMs ? [atMs] : []))
  return {
    end: undefined,
    progress: waiting,
    wanted: [...confirmed.wanted, ...immediateActions(look), ...ripe],
    memory: kept,
    events: allEvents,
    againAtMs: Math.min(...later, ...graceEnds(look), confirmed.againAtMs),
  }
}

function over(memory: RolloutMemory, end: TaskEnd, events: readonly NewTaskEvent[]): Judgement {
  return { end, progress: '', wanted: [], memory, events, againAtMs: Number.POSITIVE_INFINITY }
}

/** First look, re-creation, comparisons since the baseline, and the arrival of our commit. */
function rememberLook(
  memory: RolloutMemory,
  newest: ObservedApplication,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const known = memory.baseline?.uid === newest.uid ? memory : startAnew(memory, newest, observation, nowMs)
  const withCommit = rememberRefresh(rememberCommit(known, observation), observation)
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
  const baseline = baselineOf(newest, observation.writeBack.kind !== 'ended')
  return { ...startMemory(baseline, nowMs), startedAtMs: memory.startedAtMs, told: memory.told }
}

export function baselineOf(application: ObservedApplication, isBeforeCommit: boolean): Baseline {
  const { uid, version, revisions, reconciledAtMs, images, operation } = application
  const operationStartedAtMs = isOperationActive(application) ? undefined : operation?.startedAtMs
  return { uid, version, revisions, reconciledAtMs, images, operationStartedAtMs, isBeforeCommit }
}

function rememberCommit(memory: RolloutMemory, { writeBack }: RolloutObservation): RolloutMemory {
  if (writeBack.kind !== 'ended' || memory.refreshFromMs >= writeBack.atMs) return memory
  return { ...memory, refreshFromMs: writeBack.atMs, refreshAsks: 0 }
}

/** Refreshes are shared by all tasks of an application; those asked since this one needs them count. */
function rememberRefresh(memory: RolloutMemory, { refresh }: RolloutObservation): RolloutMemory {
  const askedAtMs = refresh.lastAskedAtMs
  if (askedAtMs === undefined || askedAtMs < memory.refreshFromMs || askedAtMs === memory.refreshAskedAtMs)
    return memory
  return { ...memory, refreshAsks: memory.refreshAsks + 1, refreshAskedAtMs: askedAtMs }
}

function gateContext(
  task: JudgedTask,
  memory: RolloutMemory,
  application: ObservedApplication,
  observation: RolloutObservation,
  settings: RolloutSettings,
): GateContext {
  return {
    application,
    wanted: task.images,
    commit: awaitedCommit(observation),
    baseline: memory.baseline,
    uid: memory.baseline?.uid ?? application.uid,
    mayRefresh: task.refresh,
    refreshFromMs: memory.refreshFromMs,
    refresh: observation.refresh,
    comparisons: memory.comparisons,
    observation,
    acceptSuspended: observation.annotations.acceptSuspended ?? settings.acceptSuspended,
    settings,
  }
}

function awaitedCommit({ writeBack }: RolloutObservation): AwaitedCommit | undefined {
  if (writeBack.kind !== 'ended') return undefined
  const { outcome } = writeBack
  if (outcome.kind !== 'landed' && outcome.kind !== 'unchanged') return undefined
  const { commit, repository, branch } = outcome
  return { commit, repository, branch, isNew: outcome.kind === 'landed' }
}

/** As long as our own commit is on its way, nothing that the application shows can end the task. */
const isAwaitingCommit = ({ observation: { writeBack } }: Pick<Look, 'observation'>) =>
  writeBack.kind === 'pending' || writeBack.kind === 'undecided'

function remember(
  memory: RolloutMemory,
  context: GateContext,
  gates: Gates,
  observation: RolloutObservation,
  nowMs: number,
): RolloutMemory {
  const { tree } = observation
  const isNewTree = tree !== undefined && tree.askedAtMs !== memory.judgedTreeAtMs
  const bad = tree?.value === undefined ? undefined : findBadPods(tree.value, context.wanted, context.settings)
  const operation = context.application.operation
  const failedOperation = `${operation?.startedAtMs} ${operation?.finishedAtMs}`
  const { sync_failed: _, ...others } = memory.since
  const since = failedOperation === memory.failedOperation ? memory.since : others
  return {
    ...memory,
    failedOperation,
    since: continueSince(since, holdingConditions(context, gates, observation), nowMs),
    judgedTreeAtMs: tree?.askedAtMs,
    badPods: isNewTree && bad !== undefined ? rememberBadPods(memory.badPods, bad, tree.askedAtMs) : memory.badPods,
  }
}

function holdingConditions(
  context: GateContext,
  gates: Gates,
  observation: RolloutObservation,
): ReadonlySet<LastingCondition> {
  const { application } = context
  const isGone = observation.known.isGone || application.isDeleting
  const isReached = gates.isOpen('R') && !isGone && !isAwaitingCommit({ observation })
  const isIdle = !isOperationActive(application)
  const conditions: readonly (readonly [LastingCondition, boolean])[] = [
    ['gone', isGone],
    ['complete', gates.areOpen && !isGone && !isAwaitingCommit({ observation })],
    ['degraded', isReached && gates.isOpen('S') && isIdle && application.healthStatus === 'Degraded'],
    ['progressing', isReached && application.healthStatus === 'Progressing'],
    ['comparison_error', errorConditionsOf(application).length > 0 && !isAwaitingCommit({ observation }) && !isGone],
    ['sync_failed', !isAwaitingCommit({ observation }) && !isGone && isSyncFailing(context, gates)],
    ['idle_out_of_sync', !isGone && isIdleOutOfSync(context, gates)],
    ['awaiting_comparison', isReached && isIdle && !gates.isOpen('P')],
    ['refresh_pending', application.isRefreshPending],
  ]
  return new Set(conditions.flatMap(([condition, holds]) => (holds ? [condition] : [])))
}

/** The end that this look speaks for, not yet confirmed. */
function nextEnding(look: Look, standstill: Standstill | undefined): Ending | undefined {
  const { task, nowMs, observation } = look
  const lastLookMs = observation.unreachable === undefined ? rolloutTimes.lastLookMs : 0
  const isLate = nowMs >= task.deadlineMs + lastLookMs
  if (isLate) return judgeDeadline(look.context, look.gates, standstill, observation)
  const ending =
    judgeGone(look) ?? judgeComplete(look) ?? (isAwaitingCommit(look) ? undefined : judgeLookForFailure(look))
  if (ending !== undefined || nowMs < task.deadlineMs || look.memory.since.complete !== undefined) return ending
  return judgeDeadline(look.context, look.gates, standstill, observation)
}

function judgeLookForFailure(look: Look): Ending | undefined {
  return look.memory.since.gone === undefined
    ? judgeFailure({ ...look, badPodGraceMs: badPodGraceOf(look) })
    : undefined
}

const badPodGraceOf = ({ observation, settings }: Pick<Look, 'observation' | 'settings'>) =>
  observation.annotations.badPodGraceMs ?? settings.badPodGraceMs

function judgeGone({ memory, nowMs, settings }: Look): Ending | undefined {
  const { gone } = memory.since
  if (gone === undefined || nowMs - gone < settings.appGoneGraceMs) return undefined
  const headline = 'the application was deleted, or the token may no longer read it'
  return {
    status: 'app not found',
    cause: 'app_gone',
    headline,
    hint: 'Re-create the application, or grant the token applications, get.',
  }
}

function judgeComplete(look: Look): Ending | undefined {
  const { complete } = look.memory.since
  if (complete === undefined || look.nowMs - complete < settleTimeOf(look)) return undefined
  const notes = look.gates.all.flatMap((gate) => (gate.isOpen && gate.note !== undefined ? [gate.note] : []))
  return { status: 'deployed', headline: notes.join('\n') }
}

const settleTimeOf = ({ context, settings }: Look) =>
  settleMs(context.application, context.commit !== undefined, settings.settleMs)

function endOf(look: Look, ending: Ending): TaskEnd {
  const { status, cause, headline } = ending
  if (status === 'deployed') return headline === '' ? { status } : { status, reason: headline }
  const note = isTimeOut(ending) && look.observation.writeBack.kind === 'monitor' ? look.observation.writeBack.note : ''
  const tree = look.observation.tree?.value
  const { context, gates } = look
  const reason = renderStatusReason({
    headline,
    cause,
    note,
    hint: ending.hint,
    context,
    gates,
    tree,
    podEvents: look.observation.podEvents?.value,
  })
  return cause === undefined ? { status, reason } : { status, cause, reason }
}

/** The missing credential is named whenever the task ends badly: it is what a reader can change. */
const isTimeOut = ({ status }: Ending) => status === 'failed' || status === 'aborted'

function describeProgress(look: Look, standstill: Standstill | undefined): string {
  const { observation, context, gates, memory } = look
  if (observation.unreachable !== undefined) return `Argo CD is unreachable: ${observation.unreachable.why}`
  if (memory.since.gone !== undefined) return 'the application is gone; waiting for it to be re-created'
  if (observation.writeBack.kind === 'pending') return 'waiting for the commit to reach the Git host'
  if (observation.writeBack.kind === 'undecided') return 'looking at the application'
  return describeWaiting(context, gates, standstill)
}

function noteForeignImage(look: Look): readonly NewTaskEvent[] {
  if (look.memory.imageCheckNoted || isAwaitingCommit(look)) return []
  const check = checkForeignImage(look)
  if (check.kind !== 'cannot_tell') return []
  return [{ kind: 'note', detail: `whether the image belongs to the application cannot be told: ${check.note}` }]
}

type Due = { readonly atMs: number; readonly action: WantedAction }

/** What is known to be needed now. */
function immediateActions(look: Look): readonly WantedAction[] {
  const { observation, context, gates } = look
  if (look.memory.since.gone !== undefined) return []
  if (observation.writeBack.kind === 'undecided') return [{ kind: 'decide_write_back' }]
  if (isAwaitingCommit(look)) return []
  return [...wantedRelations(context), ...wantedOverrides(context, gates, observation)]
}

/** What is needed at some time, and when. */
function dueActions(look: Look): readonly Due[] {
  const { memory, observation, context } = look
  if (isAwaitingCommit(look) || memory.since.gone !== undefined) return []
  const { degraded, progressing } = memory.since
  const tree = nextTreeAtMs(degraded, progressing, observation.tree, badPodGraceOf(look))
  const windows = nextWindowsAtMs(context, memory.since, observation)
  const refresh = refreshDueAtMs(look)
  return [
    ...(refresh === undefined
      ? []
      : [{ atMs: refresh, action: { kind: 'refresh', why: refreshReason(look) } as const }]),
    ...(tree === undefined ? [] : [{ atMs: tree, action: { kind: 'tree' } as const }]),
    ...(windows === undefined ? [] : [{ atMs: windows, action: { kind: 'sync_windows' } as const }]),
    ...imageReads(look),
    ...podEventReads(look),
    ...unknownRelations(look),
  ]
}

function refreshDueAtMs({ memory, task, context, gates, observation }: Look): number | undefined {
  const { baseline } = memory
  const { application } = context
  const hasMoved =
    baseline?.revisions.join() !== application.revisions.join() || baseline.images.join() !== application.images.join()
  return nextRefreshAtMs({
    mayRefresh: task.refresh,
    hasCommit: observation.writeBack.kind === 'ended',
    isRevisionOpen: gates.isOpen('R'),
    hasMoved,
    awaitingComparisonSinceMs: memory.since.awaiting_comparison,
    fromMs: memory.refreshFromMs,
    asks: memory.refreshAsks,
    askedAtMs: memory.refreshAskedAtMs,
    anyAskedAtMs: observation.refresh.lastAskedAtMs,
    foreignSinceMs: observation.refresh.pending === undefined ? memory.since.refresh_pending : undefined,
  })
}

const refreshReason = ({ gates, memory }: Look) =>
  gates.isOpen('R') && memory.since.awaiting_comparison !== undefined
    ? 'no comparison after the operation'
    : 'to see the newest commit'

/** Reads that only matter when all is well but the images. */
function imageReads({ context, gates, observation, nowMs, memory }: Look): readonly Due[] {
  if (!gates.othersAreOpen || (gates.isOpen('I') && gates.isOpen('V'))) return []
  const mustRead = checkForeignImage({ context, gates, observation }).kind === 'must_read'
  const wants = [...wantedImageReads(context), ...(mustRead ? [{ kind: 'managed_resources' } as const] : [])]
  const strict = gates.isOpen('V') ? [] : [{ kind: 'tree' } as const]
  const lastAskedAtMs = { tree: observation.tree?.askedAtMs, managed_resources: observation.managed?.askedAtMs }
  return [...wants, ...strict].flatMap((action) => {
    if (action.kind !== 'tree' && action.kind !== 'managed_resources') return []
    const earlier = lastAskedAtMs[action.kind]
    const atMs = earlier === undefined ? nowMs : earlier + rolloutTimes.imagesEveryMs
    return [{ atMs: Math.max(atMs, memory.startedAtMs), action }]
  })
}

/** The first Pod that does not start is looked into, for the reason. */
function podEventReads({ observation, context, gates, nowMs }: Look): readonly Due[] {
  const { tree, podEvents } = observation
  if (tree?.value === undefined || !gates.isOpen('R') || gates.isOpen('H')) return []
  const [bad] = findBadPods(tree.value, context.wanted, context.settings)
  if (bad === undefined) return []
  const { namespace, name, uid } = bad.pod
  const atMs = podEvents === undefined ? nowMs : podEvents.askedAtMs + rolloutTimes.podEventsEveryMs
  return [{ atMs, action: { kind: 'pod_events', namespace, name, uid } }]
}

/** A Git host that could not be asked may answer later. */
function unknownRelations({ observation, context, nowMs }: Look): readonly Due[] {
  const { commit, application } = context
  if (commit === undefined) return []
  return application.revisions.flatMap((revision) => {
    const known = observation.relations.get(`${commit.commit} ${revision}`)
    if (known?.relation !== 'unknown') return []
    const action = { kind: 'relation', repository: commit.repository, commit: commit.commit, revision } as const
    return [{ atMs: Math.max(known.atMs + rolloutTimes.relationAgainMs, nowMs), action }]
  })
}

/** When something that only has to last will have lasted. */
function graceEnds(look: Look): readonly number[] {
  const { task, memory, settings, nowMs } = look
  const { gone, complete, degraded, comparison_error: error, sync_failed: failed } = memory.since
  const ends: readonly (readonly [number | undefined, number])[] = [
    [gone, settings.appGoneGraceMs],
    [complete, settleTimeOf(look)],
    [degraded, settings.degradedGraceMs],
    [error, settings.comparisonErrorGraceMs],
    [failed, settings.syncFailedGraceMs],
    [task.deadlineMs, 0],
    [task.deadlineMs, rolloutTimes.lastLookMs],
  ]
  return ends.flatMap(([since, lasts]) => (since === undefined || since + lasts <= nowMs ? [] : [since + lasts]))
}
