import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { confirmVerdict } from './confirm-verdict.ts'
import { diagnoseEnd, resultOf } from './diagnose.ts'
import { evaluate } from './evaluate.ts'
import type { Evaluation } from './evaluation.ts'
import { findHoldUp } from './find-hold-up.ts'
import { arePodsUnread, mayImagesBeThere } from './images-condition.ts'
import { judgeDeadline } from './judge-deadline.ts'
import { judgeFailure } from './judge-failure.ts'
import { endByWriteBack, judgeUnseen } from './judge-without-application.ts'
import type { Judgement } from './judgement.ts'
import { dueActions, graceEnds, immediateActions } from './plan-actions.ts'
import { reportChanges } from './rollout-events.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './rollout-settings.ts'
import { finalCheckAtMs, settleMs } from './settle.ts'
import { type AwaitedCommit, isAwaitingCommit, type JudgedTask } from './snapshot.ts'
import { rememberApplication, updateMemory } from './update-memory.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** Says what is known of an application means for a task. Pure: time, memory and all observations come in as arguments. */
export function judgeRollout(
  task: JudgedTask,
  memory: RolloutMemory,
  observation: RolloutObservation,
  nowMs: number,
  settings: RolloutSettings,
): Judgement {
  const ended = endByWriteBack(task, observation, settings, nowMs)
  if (ended !== undefined) return { ...nothingMore, end: ended, memory }
  const application = observation.known.newest
  if (application === undefined) return judgeUnseen(task, memory, observation, settings, nowMs)
  const evaluation = evaluate({
    task,
    settings,
    observation,
    nowMs,
    application,
    commit: awaitedCommit(observation),
    memory: rememberApplication(memory, application, observation, nowMs),
  })
  return conclude({ ...evaluation, memory: updateMemory(evaluation) })
}

const nothingMore = {
  diagnosis: undefined,
  progress: '',
  actions: [],
  events: [],
  badPodUids: [],
  againAtMs: Number.POSITIVE_INFINITY,
}

/** What an evaluation means for its task: the end, or what it waits for and what is to be found out next. */
function conclude(evaluation: Evaluation): Judgement {
  const { task, observation, nowMs, memory, badPods = [] } = evaluation
  const holdUp = findHoldUp(evaluation)
  const { reported, events, diagnosis } = reportChanges(evaluation, holdUp)
  const verdict = nextVerdict(evaluation)
  const confirmed = confirmVerdict(memory, verdict, observation, nowMs, finalCheckAtMs(evaluation))
  const notes = noteForeignImage(evaluation)
  const imageCheckNoted = memory.imageCheckNoted || notes.length > 0
  const judgement = {
    memory: { ...confirmed.memory, reported, imageCheckNoted },
    events: notes.length === 0 ? events : [...events, ...notes],
    badPodUids: badPods.map(({ pod }) => pod.uid),
  }
  if (confirmed.verdict !== undefined) {
    const ended = diagnoseEnd(evaluation, confirmed.verdict)
    return { ...nothingMore, ...judgement, end: resultOf(confirmed.verdict.status, ended, task, nowMs) }
  }
  const due = dueActions(evaluation)
  const ripe = due.filter(({ atMs }) => atMs <= nowMs).map(({ action }) => action)
  const later = due.flatMap(({ atMs }) => (atMs > nowMs ? [atMs] : []))
  return {
    ...judgement,
    end: undefined,
    progress: reported.progress,
    diagnosis,
    actions: [...confirmed.actions, ...immediateActions(evaluation), ...ripe],
    againAtMs: Math.min(...later, ...graceEnds(evaluation), confirmed.againAtMs),
  }
}

function awaitedCommit({ writeBack }: RolloutObservation): AwaitedCommit | undefined {
  if (writeBack.kind !== 'ended') return undefined
  const { outcome } = writeBack
  if (outcome.kind !== 'landed' && outcome.kind !== 'unchanged') return undefined
  const { commit, repository, branch } = outcome
  return { commit, repository, branch, isNew: outcome.kind === 'landed' }
}

/** The end that this evaluation speaks for, not yet confirmed. */
function nextVerdict(evaluation: Evaluation): Verdict | undefined {
  const { task, nowMs, observation } = evaluation
  const endMs =
    observation.unreachable === undefined ? finalCheckAtMs(evaluation) + rolloutTimes.finalCheckMs : task.deadlineMs
  if (nowMs >= endMs) return judgeDeadline(evaluation)
  const verdict =
    judgeGone(evaluation) ??
    judgeComplete(evaluation) ??
    (isAwaitingCommit(evaluation) ? undefined : judgeUnlessGone(evaluation))
  if (verdict !== undefined || nowMs < task.deadlineMs || evaluation.memory.since.complete !== undefined) return verdict
  return hasPendingEvidence(evaluation) ? undefined : judgeDeadline(evaluation)
}

/** At the deadline too, an answer that is on its way is waited for when nothing else is missing. */
function hasPendingEvidence(evaluation: Evaluation): boolean {
  const { unmet } = evaluation.conditions
  return (
    unmet.length > 0 &&
    unmet.every(({ name }) => {
      if (name === 'revision') return evaluation.missingAncestry.length > 0
      if (name === 'images') return mayImagesBeThere(evaluation)
      return name === 'no_old_pods' && arePodsUnread(evaluation)
    })
  )
}

const judgeUnlessGone = (evaluation: Evaluation) =>
  evaluation.memory.since.gone === undefined ? judgeFailure(evaluation) : undefined

function judgeGone({ memory, nowMs, settings }: Evaluation): Verdict | undefined {
  const { gone } = memory.since
  return gone === undefined || nowMs - gone < settings.appGoneGraceMs ? undefined : verdictOf('app_gone')
}

function judgeComplete(evaluation: Evaluation): Verdict | undefined {
  const { complete } = evaluation.memory.since
  if (complete === undefined || evaluation.nowMs - complete < settleMs(evaluation)) return undefined
  return { status: 'deployed' }
}

function noteForeignImage(evaluation: Evaluation): readonly NewTaskEvent[] {
  const { memory, foreignImage } = evaluation
  if (memory.imageCheckNoted || isAwaitingCommit(evaluation) || foreignImage.kind !== 'cannot_tell') return []
  const detail = `cannot determine whether the image belongs to the application: ${foreignImage.note}`
  return [{ kind: 'note', detail }]
}
