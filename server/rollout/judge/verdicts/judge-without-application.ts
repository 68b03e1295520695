import { boundedLine } from '../../../../contract/text/render-diagnosis.ts'
import type { TaskResult } from '../../../deployments/task.ts'
import type { NewTaskEvent } from '../../../timeline/task-event.ts'
import type { JudgedTask } from '../input/judge-input.ts'
import type { RolloutMemory } from '../input/rollout-memory.ts'
import type { NextAction, RolloutObservation } from '../input/rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from '../input/rollout-settings.ts'
import { type Judgement, note, type Verdict, verdictOf } from '../input/verdict.ts'
import { diagnoseUnseen, renderProgress, resultOf } from '../report/diagnose.ts'
import { confirmVerdict, nextReadAtMs } from './confirm-verdict.ts'
import { judgeDeadlineUnseen } from './judge-deadline.ts'

/** Ends that the write-back alone decides, whatever the application shows. */
export function endByWriteBack(
  task: JudgedTask,
  observation: RolloutObservation,
  settings: RolloutSettings,
  nowMs: number,
): TaskResult | undefined {
  const verdict = judgeWriteBackAlone(observation)
  return verdict && resultOf(verdict.status, diagnoseUnseen(task, observation, settings, verdict), task, nowMs)
}

function judgeWriteBackAlone({ writeBack, annotations }: RolloutObservation): Verdict | undefined {
  if (writeBack.kind !== 'ended') return undefined
  const { outcome } = writeBack
  if (outcome.kind === 'refused') {
    const evidence = [{ kind: 'not_committed', text: boundedLine(outcome.reason) } as const]
    return verdictOf(outcome.cause, { evidence })
  }
  if (outcome.kind === 'dropped')
    return verdictOf('superseded', { evidence: [note('superseded before its commit was pushed')] })
  if (!annotations.fireAndForget) return undefined
  const done = outcome.kind === 'landed' ? 'committed' : 'the content was already committed'
  return { status: 'deployed', evidence: [note(`${done}; the rollout was not watched (fire-and-forget)`)] }
}

/**
 * Whether an application that is deleted, or is being deleted, is one that a task still waits for: another one of its name may
 * appear. After the wait only one that was never there is.
 */
export function isAwaited(task: JudgedTask, { baseline }: RolloutMemory, { known }: RolloutObservation, nowMs: number) {
  const isAbsent = known.isGone || known.newest?.isDeleting === true
  return isAbsent && mayAppear(task) && (nowMs < task.appearByMs || baseline === undefined)
}

const mayAppear = ({ appearByMs, acceptedAtMs }: JudgedTask) => appearByMs > acceptedAtMs

/**
 * Before the application was ever seen, or while it is awaited. "No permission" and "does not exist" look alike in a direct
 * read, and so does a hiccup of Kubernetes, so only Lists that miss it end the task.
 */
export function judgeUnseen(
  task: JudgedTask,
  memory: RolloutMemory,
  observation: RolloutObservation,
  settings: RolloutSettings,
  nowMs: number,
): Judgement {
  const confirmed = confirmVerdict(memory, unseenVerdict(task, observation, nowMs), observation, nowMs, task.deadlineMs)
  const { verdict } = confirmed
  const isWaiting = nowMs < task.appearByMs && isAbsent(observation)
  const diagnosis = diagnoseUnseen(task, observation, settings, verdict, isWaiting)
  const progress = renderProgress(diagnosis)
  const isNew = progress !== memory.reported.progress
  const waiting = {
    diagnosis: isNew ? diagnosis : undefined,
    progress,
    memory: {
      ...confirmed.memory,
      wasAbsent: memory.wasAbsent || (isWaiting && isKnownToBeAbsent(observation)),
      reported: { ...memory.reported, progress },
    },
    actions: [],
    events: isNew && isWaiting && !memory.wasAbsent ? [awaited(progress)] : [],
    badPodUids: [],
    againAtMs: Number.POSITIVE_INFINITY,
  }
  if (verdict !== undefined) return { ...waiting, end: resultOf(verdict.status, diagnosis, task, nowMs) }
  const read = firstRead(waiting.memory, observation, nowMs, isWaiting ? task.appearByMs : undefined)
  const list = nextList(task, observation, nowMs)
  const times = [
    task.deadlineMs,
    task.deadlineMs + rolloutTimes.finalCheckMs,
    read.atMs,
    list.atMs,
    confirmed.againAtMs,
  ]
  const againAtMs = Math.min(...times.filter((atMs) => atMs > nowMs))
  return {
    ...waiting,
    end: undefined,
    memory: read.memory,
    actions: [...confirmed.actions, ...read.actions, ...list.actions],
    againAtMs,
  }
}

const absencesThatCount = 2
const awaited = (detail: string): NewTaskEvent => ({ kind: 'waiting_for', detail, data: { condition: 'alive' } })

const isRefused = ({ directRead }: RolloutObservation) =>
  directRead !== undefined && ['missing', 'not_found'].includes(directRead.result)

/** What was seen of it is deleted, or about to be. */
const isAbsent = (observation: RolloutObservation) => observation.known.newest !== undefined || isRefused(observation)

const isKnownToBeAbsent = ({ known }: RolloutObservation) => known.newest !== undefined || known.absences > 0

/** Enough Lists missed it; of an application that may still appear, one of them after the wait. */
function isMissedByLists(task: JudgedTask, { known }: RolloutObservation): boolean {
  const fromMs = mayAppear(task) ? task.appearByMs : Number.NEGATIVE_INFINITY
  return known.absences >= absencesThatCount && (known.absentAskedAtMs ?? fromMs) >= fromMs
}

function unseenVerdict(task: JudgedTask, observation: RolloutObservation, nowMs: number): Verdict | undefined {
  if (nowMs >= task.appearByMs && observation.known.newest !== undefined)
    return verdictOf('app_not_found', { evidence: [note('the application of this name was deleted')] })
  if (nowMs >= task.appearByMs && isRefused(observation) && isMissedByLists(task, observation))
    return verdictOf('app_not_found', { evidence: [note(missedByList)] })
  return nowMs >= task.deadlineMs ? judgeDeadlineUnseen({ task, observation }) : undefined
}

const missedByList =
  'Argo CD returns the same error for a missing and a forbidden application, and its list does not contain this one'

/** `pausedUntilMs`: the stream tells when the application appears, so nothing is read before. */
function firstRead(
  memory: RolloutMemory,
  { directRead }: RolloutObservation,
  nowMs: number,
  pausedUntilMs = Number.NEGATIVE_INFINITY,
) {
  const isNew = directRead !== undefined && directRead.askedAtMs !== memory.countedReadAtMs
  const counted = isNew
    ? { ...memory, failedReads: memory.failedReads + 1, countedReadAtMs: directRead.askedAtMs }
    : memory
  const atMs = Math.max(nextReadAtMs(counted, directRead, memory.startedAtMs), pausedUntilMs)
  const actions: readonly NextAction[] = atMs <= nowMs && memory.candidate === undefined ? [{ kind: 'read' }] : []
  return { memory: counted, atMs, actions }
}

/** A List is asked only after a direct read was refused: one where the application may still appear, the others after that. */
function nextList(task: JudgedTask, observation: RolloutObservation, nowMs: number) {
  const { lastListAtMs } = observation
  if (!isRefused(observation) || isMissedByLists(task, observation))
    return { atMs: Number.POSITIVE_INFINITY, actions: [] }
  const soonestMs = lastListAtMs === undefined ? nowMs : lastListAtMs + rolloutTimes.absenceApartMs
  const atMs = isKnownToBeAbsent(observation) ? Math.max(soonestMs, task.appearByMs) : soonestMs
  const actions: readonly NextAction[] = atMs <= nowMs ? [{ kind: 'list' }] : []
  return { atMs, actions }
}
