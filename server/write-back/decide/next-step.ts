import { causeOfFailure, causeOfRejection, type GitError, type GitFailure } from '../git/access/git-error.ts'
import { defaultBranch } from '../plan/branch-name.ts'
import {
  type BranchMemory,
  endMs,
  type Failed,
  finalFailure,
  marginSeconds,
  maxRefusals,
  needsNewCache,
  type OpenWrite,
  reasonOf,
  triesOf,
} from './branch-memory.ts'
import { droppedResult, overdueResult, refusedResult, type WriteResult } from './write-result.ts'

export type Step =
  /** Overdue, refused, withdrawn or impossible. */
  | { readonly kind: 'end'; readonly results: readonly WriteResult[] }
  /** `tip`: where the branch must be, because some of the batch were sent onto it before. */
  | { readonly kind: 'push'; readonly batch: readonly OpenWrite[]; readonly tip: string | undefined }
  /** Sent, no answer: they are looked for on the branch before their files are written again. */
  | { readonly kind: 'resolve'; readonly writes: readonly OpenWrite[] }
  /** To the default branch: the host is asked for its name unless it gave it within `maxAgeMs`. `gone`: its old name is. */
  | {
      readonly kind: 'move'
      readonly writes: readonly OpenWrite[]
      readonly maxAgeMs: number
      readonly gone?: GitError
    }
  | { readonly kind: 'hand_over'; readonly failed: Failed }
  | { readonly kind: 'renew_cache' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'idle' }

/** `open`: oldest first, as read at `nowMs`. */
export type BranchState = {
  readonly branch: string
  readonly open: readonly OpenWrite[]
  readonly memory: BranchMemory
}

/** How long after its deadline a cancelled task's push is looked for on a host that does not answer. */
const maxLateSeconds = 600
/** Less than that does not suffice for a push on a busy host. */
const minPushMs = 2_000
/** How long the name of the default branch is used without asking again. */
const defaultBranchHoldsMs = 60_000
/** What another replica may fare better with: its disk, or its way to the Git host. */
const ofThisReplica: ReadonlySet<GitFailure> = new Set(['machine', 'unreachable', 'timed_out'])
const handOverAfterMs = 10_000
const endAfterMs = 20_000

/**
 * What the owner of a branch does next: end what is over, look for what was sent, push what is ready, else wait.
 * Pure: `memory` is what `remember` made of the outcomes of the steps before.
 */
export function nextStep(state: BranchState, nowMs: number): Step {
  const { branch, open, memory } = state
  const { last, pause, tip, lookups } = memory
  const results = open.flatMap((write) => endOf(write, state) ?? [])
  if (results.length > 0) return { kind: 'end', results }
  if (open.length === 0) return { kind: 'idle' }

  if (needsNewCache(memory)) return { kind: 'renew_cache' }
  if (last.kind === 'failed' && isToBeHandedOver(last, memory)) return { kind: 'hand_over', failed: last }
  if (pause !== undefined && nowMs < pause.untilMs) return waitFor(pause.untilMs, open, nowMs)
  const forDefaultBranch = open.filter(isForDefaultBranch)
  const gone = finalFailure(last)?.error
  if (gone !== undefined) return { kind: 'move', writes: forDefaultBranch, maxAgeMs: 0, gone }
  if (branch === defaultBranch) return { kind: 'move', writes: forDefaultBranch, maxAgeMs: defaultBranchHoldsMs }

  const sent = open.filter(({ state }) => state === 'pushing')
  if (sent.length > 0 && tip === undefined && nowMs >= lookups.againAtMs) return { kind: 'resolve', writes: sent }

  const batch = nextBatch(readyWrites(open, tip), memory)
  if (batch.length === 0) return waitFor(lookups.againAtMs, open, nowMs)
  if (isTooLate(batch, memory, nowMs, nowMs)) return waitFor(Number.POSITIVE_INFINITY, batch, nowMs)
  return { kind: 'push', batch, tip: batch.some(({ state }) => state === 'pushing') ? tip : undefined }
}

/** Why a write is over, if it is. */
function endOf(write: OpenWrite, state: BranchState): WriteResult | undefined {
  const { last, refused } = state.memory
  const failed = finalFailure(last)
  const final = failed && !mayMove(failed, state.open) ? failed.error : undefined
  if (!write.isWanted) return final || isAbandoned(write, state.memory) ? droppedResult(write) : undefined
  if (final) return refusedResult(write, causeOfFailure[final.code], final.message)
  if (write.secondsLeft < marginSeconds)
    return overdueResult({ ...write, lastReason: reasonOf(state.memory, write) }, triesOf(state.memory, write).cause)
  if (last.kind === 'kept' && isStalled(write, last.failed, state.memory))
    return refusedResult(write, causeOfFailure[last.failed.error.code], last.failed.error.message)
  const isRefused = refused.taskIds.includes(write.taskId) && !isUnresolved(write, state.memory.tip)
  return isRefused ? refusedResult(write, causeOfRejection(refused.reason), refused.reason) : undefined
}

/** A branch that is gone may be the default branch under its old name. */
const mayMove = ({ error, wasMoving }: Failed, open: readonly OpenWrite[]): boolean =>
  error.code === 'branch_missing' && !wasMoving && open.some(isForDefaultBranch)

const isForDefaultBranch = ({ plan }: OpenWrite): boolean => plan.branch === defaultBranch

/** A cancelled task's push without an answer is looked for on the branch, but not for ever. */
function isAbandoned({ state, base, secondsLeft }: OpenWrite, { tip }: BranchMemory): boolean {
  if (state === 'queued') return true
  return secondsLeft < (base === tip ? 0 : -maxLateSeconds)
}

/** A machine that cannot do its work ends what has waited long enough, when no other replica takes it. */
function isStalled({ waitedSeconds }: OpenWrite, failed: Failed, memory: BranchMemory): boolean {
  if (failed.error.code !== 'machine' || failingMs(failed, memory) < endAfterMs) return false
  return waitedSeconds * 1_000 >= endAfterMs
}

const isToBeHandedOver = (failed: Failed, memory: BranchMemory): boolean =>
  ofThisReplica.has(failed.error.code) && failingMs(failed, memory) >= handOverAfterMs

const failingMs = ({ failedAtMs }: Failed, { failingSinceMs = failedAtMs }: BranchMemory): number =>
  failedAtMs - failingSinceMs

/** Nothing may be sent again before it is known that the branch cannot take the push before it any more, or not both. */
const isUnresolved = ({ state, base }: OpenWrite, tip: string | undefined): boolean =>
  state === 'pushing' && (tip === undefined || base !== tip)

/**
 * A write that was sent may be sent again while the branch still is where it was built, because the branch takes one of
 * the two at most. One that is not resolved waits, with those of its file.
 */
function readyWrites(open: readonly OpenWrite[], tip: string | undefined): readonly OpenWrite[] {
  const unresolved = open.filter((write) => write.isWanted && isUnresolved(write, tip))
  const files = new Set(unresolved.map(({ plan }) => plan.file))
  return open.filter((write) => write.isWanted && !files.has(write.plan.file))
}

/** The writes of one file stay in order; those of files whose pushes had no answer come after all others. */
function nextBatch(ready: readonly OpenWrite[], memory: BranchMemory): readonly OpenWrite[] {
  const { refusals, batchLimit } = memory
  const unsent = ready.filter(({ state }) => state === 'queued')
  if (refusals.inARow === maxRefusals && unsent.length > 0) return unsent
  const byFile = Map.groupBy(ready, ({ plan }) => plan.file)
  if (refusals.inARow > 0 && refusals.inARow < maxRefusals) {
    const oldest = [...byFile.values()].flatMap(([first]) => first ?? [])
    return oldest.slice(Math.floor((oldest.length * refusals.inARow) / maxRefusals)).slice(0, 1)
  }
  const unanswered = new Map(
    [...byFile].map(([file, writes]) => [file, Math.max(...writes.map((write) => triesOf(memory, write).unanswered))]),
  )
  const fewest = Math.min(...unanswered.values())
  return ready.filter(({ plan }) => unanswered.get(plan.file) === fewest).slice(0, batchLimit)
}

/** A push that is cut off has no answer: where it is known why the last one failed, none begins so late. */
export function isTooLate(
  writes: readonly OpenWrite[],
  memory: BranchMemory,
  readAtMs: number,
  nowMs: number,
): boolean {
  const leftMs = Math.max(...writes.map((write) => endMs(write, readAtMs))) - nowMs
  return leftMs < minPushMs && writes.every((write) => reasonOf(memory, write) !== undefined)
}

/** Until the first deadline at most; a push that begins shortly before it would be cut off. */
function waitFor(wantedMs: number, open: readonly OpenWrite[], nowMs: number): Step {
  const ends = open.filter(({ isWanted }) => isWanted).map((write) => endMs(write, nowMs))
  const firstEndMs = Math.min(...ends)
  return { kind: 'wait', untilMs: wantedMs > firstEndMs - minPushMs ? firstEndMs : wantedMs }
}
