import type { TaskResult } from '../../deployments/task.ts'
import { confirmVerdict, nextReadAtMs } from './confirm-verdict.ts'
import { judgeDeadlineUnseen } from './judge-deadline.ts'
import type { Ending } from './judge-failure.ts'
import type { Judgement } from './judgement.ts'
import type { JudgedTask } from './look.ts'
import { renderStatusReason } from './render-status-reason.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { NextAction, RolloutObservation } from './rollout-observation.ts'
import { rolloutTimes } from './rollout-settings.ts'

/** Ends that the write-back alone decides, whatever the application shows. */
export function endByWriteBack({ writeBack, annotations }: RolloutObservation): TaskResult | undefined {
  if (writeBack.kind !== 'ended') return undefined
  const { outcome } = writeBack
  if (outcome.kind === 'refused') return { status: 'failed', cause: outcome.cause, reason: outcome.reason }
  if (outcome.kind === 'dropped')
    return { status: 'cancelled', cause: 'superseded', reason: 'superseded before its commit was pushed' }
  if (!annotations.fireAndForget) return undefined
  const done = outcome.kind === 'landed' ? 'committed' : 'the content was already committed'
  return { status: 'deployed', reason: `${done}; the rollout was not watched (fire-and-forget)` }
}

/**
 * Before the application was ever seen. "No permission" and "does not exist" look alike in a direct read, and so does a hiccup
 * of Kubernetes, so only Lists that miss it end the task.
 */
export function judgeUnseen(
  task: JudgedTask,
  memory: RolloutMemory,
  observation: RolloutObservation,
  nowMs: number,
): Judgement {
  const confirmed = confirmVerdict(memory, unseenEnding(task, observation, nowMs), observation, nowMs, task.deadlineMs)
  const { ending } = confirmed
  if (ending !== undefined)
    return { ...waiting(confirmed.memory, observation), end: endOf(ending), againAtMs: Number.POSITIVE_INFINITY }
  const read = firstRead(confirmed.memory, observation, nowMs)
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
    ...waiting(read.memory, observation),
    wanted: [...confirmed.wanted, ...read.wanted, ...list.wanted],
    againAtMs,
  }
}

function waiting(memory: RolloutMemory, { unreachable }: RolloutObservation) {
  const progress =
    unreachable === undefined ? 'looking for the application' : `Argo CD is unreachable: ${unreachable.why}`
  return { end: undefined, progress, wanted: [], memory, events: [] }
}

const absencesThatCount = 2

function unseenEnding(task: JudgedTask, observation: RolloutObservation, nowMs: number): Ending | undefined {
  const isRefused =
    observation.directRead !== undefined && ['missing', 'not_found'].includes(observation.directRead.result)
  if (isRefused && observation.known.absences >= absencesThatCount) return notFound
  return nowMs >= task.deadlineMs ? judgeDeadlineUnseen({ task, observation, nowMs }) : undefined
}

const notFound: Ending = {
  status: 'app not found',
  cause: 'app_not_found',
  headline:
    'the application was not found, or the token may not read it: Argo CD answers both alike, and its List does not hold it',
  hint: 'Check the name in the task, and that the policy of the account has: applications, get, <project>/<application>, allow.',
}

function endOf({ status, cause, headline, hint }: Ending): TaskResult {
  const nothing = { note: '', context: undefined, gates: undefined, tree: undefined, podEvents: undefined }
  const reason = renderStatusReason({ headline, cause, hint, ...nothing })
  return cause === undefined ? { status, reason } : { status, cause, reason }
}

function firstRead(memory: RolloutMemory, { directRead }: RolloutObservation, nowMs: number) {
  const isNew = directRead !== undefined && directRead.askedAtMs !== memory.countedReadAtMs
  const counted = isNew
    ? { ...memory, failedReads: memory.failedReads + 1, countedReadAtMs: directRead.askedAtMs }
    : memory
  const atMs = nextReadAtMs(counted, directRead, memory.startedAtMs)
  const wanted: readonly NextAction[] = atMs <= nowMs && memory.candidate === undefined ? [{ kind: 'read' }] : []
  return { memory: counted, atMs, wanted }
}

/** A List is asked only after a direct read was refused. */
function nextList({ directRead, known, lastListAtMs }: RolloutObservation, nowMs: number) {
  const never = { atMs: Number.POSITIVE_INFINITY, wanted: [] }
  if (directRead === undefined || directRead.result === 'failed' || known.absences >= absencesThatCount) return never
  const atMs = lastListAtMs === undefined ? nowMs : lastListAtMs + rolloutTimes.absenceApartMs
  const wanted: readonly NextAction[] = atMs <= nowMs ? [{ kind: 'list' }] : []
  return { atMs, wanted }
}
