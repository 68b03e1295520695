import { boundedLine } from '../../../../contract/text/render-diagnosis.ts'
import type { TaskResult } from '../../../deployments/task.ts'
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
    return { ...verdictOf(outcome.cause, { evidence }), status: 'failed' }
  }
  if (outcome.kind === 'dropped')
    return verdictOf('superseded', { evidence: [note('superseded before its commit was pushed')] })
  if (!annotations.fireAndForget) return undefined
  const done = outcome.kind === 'landed' ? 'committed' : 'the content was already committed'
  return { status: 'deployed', evidence: [note(`${done}; the rollout was not watched (fire-and-forget)`)] }
}

/**
 * Before the application was ever seen. "No permission" and "does not exist" look alike in a direct read, and so does a hiccup
 * of Kubernetes, so only Lists that miss it end the task.
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
  const diagnosis = diagnoseUnseen(task, observation, settings, verdict)
  const progress = renderProgress(diagnosis)
  const isNew = progress !== memory.reported.progress
  const waiting = {
    diagnosis: isNew ? diagnosis : undefined,
    progress,
    memory: { ...confirmed.memory, reported: { ...memory.reported, progress } },
    actions: [],
    events: [],
    badPodUids: [],
    againAtMs: Number.POSITIVE_INFINITY,
  }
  if (verdict !== undefined) return { ...waiting, end: resultOf(verdict.status, diagnosis, task, nowMs) }
  const read = firstRead(waiting.memory, observation, nowMs)
  const list = nextList(observation, nowMs)
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

function unseenVerdict(task: JudgedTask, observation: RolloutObservation, nowMs: number): Verdict | undefined {
  const isRefused =
    observation.directRead !== undefined && ['missing', 'not_found'].includes(observation.directRead.result)
  if (isRefused && observation.known.absences >= absencesThatCount)
    return verdictOf('app_not_found', { evidence: [note(missedByList)] })
  return nowMs >= task.deadlineMs ? judgeDeadlineUnseen({ task, observation }) : undefined
}

const missedByList =
  'Argo CD returns the same error for a missing and a forbidden application, and its list does not contain this one'

function firstRead(memory: RolloutMemory, { directRead }: RolloutObservation, nowMs: number) {
  const isNew = directRead !== undefined && directRead.askedAtMs !== memory.countedReadAtMs
  const counted = isNew
    ? { ...memory, failedReads: memory.failedReads + 1, countedReadAtMs: directRead.askedAtMs }
    : memory
  const atMs = nextReadAtMs(counted, directRead, memory.startedAtMs)
  const actions: readonly NextAction[] = atMs <= nowMs && memory.candidate === undefined ? [{ kind: 'read' }] : []
  return { memory: counted, atMs, actions }
}

/** A List is asked only after a direct read was refused. */
function nextList({ directRead, known, lastListAtMs }: RolloutObservation, nowMs: number) {
  const never = { atMs: Number.POSITIVE_INFINITY, actions: [] }
  if (directRead === undefined || directRead.result === 'failed' || known.absences >= absencesThatCount) return never
  const atMs = lastListAtMs === undefined ? nowMs : lastListAtMs + rolloutTimes.absenceApartMs
  const actions: readonly NextAction[] = atMs <= nowMs ? [{ kind: 'list' }] : []
  return { atMs, actions }
}
