import type { TaskResult } from '../../deployments/task.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { confirmVerdict } from './confirm-verdict.ts'
import { isVerificationUnread, mayImagesBeThere } from './gate-images.ts'
import { wantedRelations } from './gate-revision.ts'
import type { AwaitedCommit, GateContext, GateName } from './gates.ts'
import { judgeDeadline } from './judge-deadline.ts'
import { checkForeignImage, type Ending, judgeFailure } from './judge-failure.ts'
import { judgeGates } from './judge-gates.ts'
import { describeWaiting, judgeStall, type Stall } from './judge-waiting.ts'
import { endByWriteBack, judgeUnseen } from './judge-without-application.ts'
import type { Judgement } from './judgement.ts'
import { badPodGraceOf, changeOverdueAtMs, isAwaitingCommit, type JudgedTask, type Look, settleTimeOf } from './look.ts'
import type { ObservedApplication } from './observed-application.ts'
import { dueActions, graceEnds, immediateActions } from './plan-actions.ts'
import { remember, rememberLook } from './remember-look.ts'
import { renderStatusReason } from './render-status-reason.ts'
import { bounded, tellChanges } from './rollout-events.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './rollout-settings.ts'

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
  const context = gateContext(task, remembered, newest, observation, settings, nowMs)
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

function judgeLook(look: Look): Judgement {
  const { task, observation, nowMs, context, gates, memory } = look
  const stall = judgeStall(context, gates, observation)
  const waiting = bounded(describeProgress(look, stall))
  const { told, events } = tellChanges(memory.told, context.application, waiting)
  const ending = nextEnding(look, stall)
  const confirmed = confirmVerdict(memory, ending, observation, nowMs, task.deadlineMs)
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

function over(memory: RolloutMemory, end: TaskResult, events: readonly NewTaskEvent[]): Judgement {
  return { end, progress: '', wanted: [], memory, events, againAtMs: Number.POSITIVE_INFINITY }
}

function gateContext(
  task: JudgedTask,
  memory: RolloutMemory,
  application: ObservedApplication,
  observation: RolloutObservation,
  settings: RolloutSettings,
  nowMs: number,
): GateContext {
  return {
    application,
    unchangedSinceVersion: observation.known.unchangedSinceVersion ?? application.version,
    wanted: task.images,
    commit: awaitedCommit(observation),
    baseline: memory.baseline,
    uid: memory.baseline?.uid ?? application.uid,
    mayRefresh: task.refresh,
    refreshFromMs: memory.refreshFromMs,
    refresh: observation.refresh,
    isChangeOverdue: nowMs >= changeOverdueAtMs(task) && (memory.refreshAnswers >= 2 || !task.refresh),
    hasReached: memory.hasReached,
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

/** The end that this look speaks for, not yet confirmed. */
function nextEnding(look: Look, stall: Stall | undefined): Ending | undefined {
  const { task, nowMs, observation } = look
  const finalCheckMs = observation.unreachable === undefined ? rolloutTimes.finalCheckMs : 0
  const isLate = nowMs >= task.deadlineMs + finalCheckMs
  if (isLate) return judgeDeadline(look, stall)
  const ending =
    judgeGone(look) ?? judgeComplete(look) ?? (isAwaitingCommit(look) ? undefined : judgeLookForFailure(look))
  if (ending !== undefined || nowMs < task.deadlineMs || look.memory.since.complete !== undefined) return ending
  if (hasPendingEvidence(look)) return undefined
  return judgeDeadline(look, stall)
}

/** At the deadline too, an answer that is on its way is waited for when nothing else is missing. */
function hasPendingEvidence({ context, gates }: Look): boolean {
  const isComing: Partial<Record<GateName, () => boolean>> = {
    R: () => wantedRelations(context).length > 0,
    I: () => mayImagesBeThere(context),
    V: () => isVerificationUnread(context),
  }
  return gates.closed.length > 0 && gates.closed.every(({ name }) => isComing[name]?.())
}

function judgeLookForFailure(look: Look): Ending | undefined {
  return look.memory.since.gone === undefined
    ? judgeFailure({ ...look, badPodGraceMs: badPodGraceOf(look) })
    : undefined
}

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

function endOf(look: Look, ending: Ending): TaskResult {
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

function describeProgress(look: Look, stall: Stall | undefined): string {
  const { observation, context, gates, memory } = look
  if (observation.unreachable !== undefined) return `Argo CD is unreachable: ${observation.unreachable.why}`
  if (memory.since.gone !== undefined) return 'the application is gone; waiting for it to be re-created'
  if (observation.writeBack.kind === 'pending') return 'waiting for the commit to reach the Git host'
  if (observation.writeBack.kind === 'undecided') return 'looking at the application'
  return describeWaiting(context, gates, stall)
}

function noteForeignImage(look: Look): readonly NewTaskEvent[] {
  if (look.memory.imageCheckNoted || isAwaitingCommit(look)) return []
  const check = checkForeignImage(look)
  if (check.kind !== 'cannot_tell') return []
  return [{ kind: 'note', detail: `cannot determine whether the image belongs to the application: ${check.note}` }]
}
