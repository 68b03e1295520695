import type { RolloutMemory } from '../input/rollout-memory.ts'
import type { DirectRead, NextAction, RolloutObservation } from '../input/rollout-observation.ts'
import { rolloutTimes } from '../input/rollout-settings.ts'
import type { Verdict } from '../input/verdict.ts'

export type Confirmation = {
  readonly verdict: Verdict | undefined
  readonly memory: RolloutMemory
  readonly actions: readonly NextAction[]
  readonly againAtMs: number
}

/**
 * No end without a direct read that was asked after the end first showed, and by which it still shows: the stream and Lists
 * come from caches. Once the time for the final check, which begins at `finalCheckAtMs`, is over, what is known decides.
 */
export function confirmVerdict(
  memory: RolloutMemory,
  verdict: Verdict | undefined,
  observation: RolloutObservation,
  nowMs: number,
  finalCheckAtMs: number,
): Confirmation {
  const never = Number.POSITIVE_INFINITY
  if (verdict === undefined) return { verdict, memory: withoutCandidate(memory), actions: [], againAtMs: never }
  const key = `${verdict.status} ${verdict.cause ?? ''}`
  const sinceMs = memory.candidate?.key === key ? memory.candidate.sinceMs : nowMs
  const counted = countFailedRead({ ...memory, candidate: { key, sinceMs } }, observation, sinceMs, verdict)
  const isUnrecoverable = verdict.status === 'aborted' && observation.unreachable !== undefined
  const isAnswered = isUnrecoverable || answers(observation, sinceMs, verdict)
  if (isAnswered || nowMs >= finalCheckAtMs + rolloutTimes.finalCheckMs)
    return { verdict, memory: counted, actions: [], againAtMs: never }
  const { directRead } = observation
  const dueMs = Math.min(nextReadAtMs(counted, directRead, sinceMs), finalReadAtMs(directRead, finalCheckAtMs))
  const isDue = dueMs <= nowMs
  return {
    verdict: undefined,
    memory: counted,
    actions: isDue ? readsToConfirm(directRead, verdict) : [],
    againAtMs: isDue ? never : dueMs,
  }
}

const withoutCandidate = (memory: RolloutMemory): RolloutMemory =>
  memory.candidate === undefined && memory.failedReads === 0
    ? memory
    : { ...memory, candidate: undefined, failedReads: 0 }

/** "No permission" says nothing of an application that is known: a List must miss it too. */
function readsToConfirm(read: DirectRead | undefined, { cause }: Verdict): readonly NextAction[] {
  const isUnclear = cause === 'app_gone' && read?.result === 'missing'
  return isUnclear ? [{ kind: 'read' }, { kind: 'list' }] : [{ kind: 'read' }]
}

type Observed = Pick<RolloutObservation, 'directRead' | 'known'>

function answers({ directRead: read, known }: Observed, sinceMs: number, { status, cause }: Verdict): boolean {
  if (read === undefined || read.askedAtMs < sinceMs) return false
  if (status === 'aborted' || cause === 'timeout') return true
  if (cause === 'app_gone' && read.result === 'missing') return (known.absentAskedAtMs ?? -Infinity) >= sinceMs
  if (status === 'app not found') return read.result !== 'failed'
  return read.result === 'read'
}

function countFailedRead(memory: RolloutMemory, observed: Observed, sinceMs: number, verdict: Verdict): RolloutMemory {
  const read = observed.directRead
  if (read === undefined || read.askedAtMs < sinceMs || read.askedAtMs === memory.countedReadAtMs) return memory
  if (answers(observed, sinceMs, verdict)) return memory
  return { ...memory, failedReads: memory.failedReads + 1, countedReadAtMs: read.askedAtMs }
}

/** The final check has no time for the pauses between reads that failed. */
const finalReadAtMs = (read: DirectRead | undefined, finalCheckAtMs: number) =>
  Math.max(finalCheckAtMs, (read?.askedAtMs ?? -Infinity) + rolloutTimes.retryMs)

/** A read that failed is tried again later and later. */
export function nextReadAtMs(memory: RolloutMemory, read: DirectRead | undefined, sinceMs: number): number {
  if (read === undefined || read.askedAtMs < sinceMs) return sinceMs
  return (
    read.askedAtMs +
    Math.min(rolloutTimes.retryAtMostMs, rolloutTimes.retryMs * 2 ** Math.max(0, memory.failedReads - 1))
  )
}
