import type { NewTaskEvent } from '../../timeline/task-event.ts'
import { type Evaluation, evaluate } from './conditions/evaluate.ts'
import { mayImagesBeThere } from './conditions/images-condition.ts'
import { arePodsUnread } from './conditions/old-pods-condition.ts'
import { type AwaitedCommit, goneForGoodAtMs, isAwaitingCommit, type JudgedTask } from './input/judge-input.ts'
import type { RolloutMemory } from './input/rollout-memory.ts'
import type { RolloutObservation } from './input/rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './input/rollout-settings.ts'
import { type Judgement, type Verdict, verdictOf } from './input/verdict.ts'
import { planActions } from './plan-actions.ts'
import { diagnoseEnd, resultOf } from './report/diagnose.ts'
import { reportChanges } from './report/rollout-events.ts'
import { rememberApplication, updateMemory } from './update-memory.ts'
import { confirmVerdict } from './verdicts/confirm-verdict.ts'
import { judgeDeadline } from './verdicts/judge-deadline.ts'
import { judgeFailure } from './verdicts/judge-failure.ts'
import { findBlocker } from './verdicts/judge-stall.ts'
import { endByWriteBack, isAwaited, judgeUnseen } from './verdicts/judge-without-application.ts'
import { type Timing, timingOf } from './verdicts/settle.ts'

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
  if (application === undefined || isAwaited(task, memory, observation, nowMs))
    return judgeUnseen(task, memory, observation, settings, nowMs)
  const before = rememberApplication(memory, application, observation, nowMs)
  const { baseline, refreshFromMs, refreshAnswers, hasReached, wasWitnessed, workloads, comparisons } = before
  const { degradedBefore, restarts } = before
  const evaluation = evaluate({
    task,
    settings,
    observation,
    nowMs,
    application,
    commit: awaitedCommit(observation),
    baseline,
    refreshFromMs,
    refreshAnswers,
    hasReached,
    wasWitnessed,
    workloads,
    comparisons,
    degradedBefore,
    restarts,
  })
  return conclude(evaluation, updateMemory(before, evaluation))
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
function conclude(evaluation: Evaluation, memory: RolloutMemory): Judgement {
  const { task, observation, nowMs, badPods = [] } = evaluation
  const blocker = findBlocker(evaluation, memory)
  const { reported, events, diagnosis } = reportChanges(evaluation, memory, blocker)
  const timing = timingOf(evaluation, memory.since)
  const verdict = nextVerdict(evaluation, memory, blocker, timing)
  const confirmed = confirmVerdict(memory, verdict, observation, nowMs, timing.finalCheckAtMs)
  const notes = memory.imageCheckNoted ? [] : noteForeignImage(evaluation)
  const imageCheckNoted = memory.imageCheckNoted || notes.length > 0
  const judgement = {
    memory: { ...confirmed.memory, reported, imageCheckNoted },
    events: [...events, ...notes],
    badPodUids: badPods.map(({ pod }) => pod.uid),
  }
  if (confirmed.verdict !== undefined) {
    const ended = diagnoseEnd(evaluation, memory.conditionSince, confirmed.verdict)
    return { ...nothingMore, ...judgement, end: resultOf(confirmed.verdict.status, ended, task, nowMs) }
  }
  const plan = planActions(evaluation, memory, timing)
  return {
    ...judgement,
    end: undefined,
    progress: reported.progress,
    diagnosis,
    actions: [...confirmed.actions, ...plan.actions],
    againAtMs: Math.min(plan.againAtMs, confirmed.againAtMs),
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
function nextVerdict(
  evaluation: Evaluation,
  memory: RolloutMemory,
  blocker: Verdict | undefined,
  { settledAtMs, finalCheckAtMs }: Timing,
): Verdict | undefined {
  const { task, nowMs, observation } = evaluation
  const { since } = memory
  const isReachable = observation.unreachable === undefined
  const endMs = isReachable ? finalCheckAtMs + rolloutTimes.finalCheckMs : task.deadlineMs
  const isSettled = nowMs >= settledAtMs
  if (nowMs >= endMs) return judgeDeadline(evaluation, since, blocker, isSettled)
  if (since.gone !== undefined && nowMs >= goneForGoodAtMs(since.gone, task, evaluation.settings))
    return verdictOf('app_gone')
  if (isSettled) return { status: 'deployed' }
  const isFailureOurs = since.gone === undefined && !isAwaitingCommit(evaluation)
  const failure = isFailureOurs ? judgeFailure(evaluation, memory) : undefined
  if (failure !== undefined || nowMs < task.deadlineMs || since.complete !== undefined) return failure
  return hasPendingEvidence(evaluation) ? undefined : judgeDeadline(evaluation, since, blocker, isSettled)
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

function noteForeignImage(evaluation: Evaluation): readonly NewTaskEvent[] {
  const { foreignImage } = evaluation
  if (isAwaitingCommit(evaluation) || foreignImage.kind !== 'cannot_tell') return []
  const detail = `cannot determine whether the image belongs to the application: ${foreignImage.note}`
  return [{ kind: 'note', detail }]
}
