import type { Cause } from '../../../contract/causes.ts'
import { causeOfFailure, type GitError } from '../git/access/git-error.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'

/** A write without an outcome. While it is `pushing`, a push onto `base` may have been sent: its outcome is unknown. */
export type OpenWrite = {
  readonly taskId: string
  readonly plan: WriteBackPlan
  readonly state: 'queued' | 'pushing'
  readonly base: string | undefined
  /** The last thing that happened to it, as its task shows it. */
  readonly lastReason: string | undefined
  /** False once its task has ended. */
  readonly isWanted: boolean
  /** Until the deadline of its task, when it was read; negative after it. */
  readonly secondsLeft: number
  /** Since it was queued. */
  readonly waitedSeconds: number
}

type Writes = { readonly writes: readonly OpenWrite[] }

export type Failed = Writes & {
  readonly kind: 'failed'
  readonly error: GitError
  readonly readAtMs: number
  readonly failedAtMs: number
  /** The default branch was asked for because the branch is gone. */
  readonly wasMoving: boolean
}

/** What came of a step; `writes` are those it was about. */
export type Outcome =
  | (Writes & { readonly kind: 'landed' | 'lost_race' })
  /** No answer to a push that was sent; or the host did not move the branch, which no other writer moved either. */
  | (Writes & { readonly kind: 'unanswered' | 'stuck' | 'refused'; readonly reason: string })
  | Failed
  /** The host answered, but there was nothing to push. */
  | { readonly kind: 'read' | 'moved' }
  /** `isOpen`: of some it is not known what became of them, or they may still arrive. */
  | { readonly kind: 'resolved'; readonly tip: string; readonly isOpen: boolean }
  | { readonly kind: 'kept'; readonly failed: Failed }
  | { readonly kind: 'ended'; readonly results: readonly { readonly taskId: string }[] }
  | { readonly kind: 'withdrawn' | 'cache_renewed' | 'waited' | 'idle' }

/** Of one task. `reason`: what happened to it last, unless `lastReason` has it. `cause`: of that. */
export type Tries = {
  readonly losses: number
  readonly unanswered: number
  readonly cause: Cause
  readonly reason: string | undefined
}

/** What the owner of a branch knows beside its open writes. */
export type BranchMemory = {
  readonly last: Outcome
  /** Of the branch, when pushes without an answer were last looked for; undefined once it may have moved. */
  readonly tip: string | undefined
  readonly batchLimit: number
  /** In a row. */
  readonly failures: number
  readonly failingSinceMs: number | undefined
  /** Nothing is asked of the host before that. `taskIds`: the tasks that show the reason. */
  readonly pause: { readonly untilMs: number; readonly reason: string; readonly taskIds: readonly string[] } | undefined
  readonly lookups: { readonly failures: number; readonly againAtMs: number }
  /** Commits that were refused alone and in the same words. */
  readonly refusals: { readonly words: string; readonly inARow: number }
  /** The last commits that the host refused for good. */
  readonly refused: { readonly reason: string; readonly taskIds: readonly string[] }
  readonly cacheRenewedAtMs: number
  /** By task. */
  readonly tries: ReadonlyMap<string, Tries>
}

export const maxBatch = 500
/** Starting the programs takes most of a push: one with fewer commits is hardly faster, and wins hardly more often. */
const minRacingBatch = 10
/** So many commits refused in a row, each alone and in the same words: the branch takes none. */
export const maxRefusals = 5
export const maxPauseMs = 4_000
/** A task whose time is nearly over gets its true reason instead of a bare timeout. */
export const marginSeconds = 2

const noRefusals = { words: '', inARow: 0 }
const untried: Tries = { losses: 0, unanswered: 0, cause: 'git_unreachable', reason: undefined }
const answered = { failures: 0, failingSinceMs: undefined, pause: undefined }

export const newMemory: BranchMemory = {
  ...answered,
  last: { kind: 'idle' },
  tip: undefined,
  batchLimit: maxBatch,
  lookups: { failures: 0, againAtMs: Number.NEGATIVE_INFINITY },
  refusals: noRefusals,
  refused: { reason: '', taskIds: [] },
  cacheRenewedAtMs: Number.NEGATIVE_INFINITY,
  tries: new Map(),
}

export const triesOf = ({ tries }: BranchMemory, { taskId }: OpenWrite): Tries => tries.get(taskId) ?? untried

/** The last thing that happened to a write. */
export const reasonOf = (memory: BranchMemory, write: OpenWrite): string | undefined =>
  triesOf(memory, write).reason ?? write.lastReason

/** What is known after a step. Pure. A lost race halves the batch, a push that landed doubles it. `random`: 0 to 1. */
export function remember(memory: BranchMemory, last: Outcome, nowMs: number, random: number): BranchMemory {
  switch (last.kind) {
    case 'landed': {
      const batchLimit = Math.min(maxBatch, memory.batchLimit * 2)
      const tries = without(memory.tries, last.writes)
      return { ...memory, ...answered, last, tip: undefined, refusals: noRefusals, batchLimit, tries }
    }
    case 'lost_race': {
      const tries = noted(memory, last.writes, ({ losses }) => ({
        losses: losses + 1,
        cause: 'git_unreachable',
        reason: lostRaces(losses + 1),
      }))
      const batchLimit = Math.min(memory.batchLimit, Math.max(minRacingBatch, halfOf(last.writes)))
      return { ...memory, ...answered, last, tip: undefined, tries, batchLimit }
    }
    case 'unanswered': {
      const tries = noted(memory, last.writes, ({ unanswered }) => ({
        unanswered: unanswered + 1,
        cause: 'git_unreachable',
      }))
      return paused({ ...memory, last, tries, batchLimit: halfOf(last.writes) }, last, nowMs, random)
    }
    case 'stuck':
      return paused({ ...memory, last }, last, nowMs, random)
    case 'refused':
      return { ...memory, ...answered, last, tip: undefined, batchLimit: 1, ...afterRefusal(memory, last) }
    case 'failed':
      return afterFailure({ ...memory, last, tip: undefined }, last, nowMs, random)
    case 'resolved':
      return { ...memory, tip: last.tip, lookups: lookupsAfter(memory, last.isOpen, nowMs, random) }
    case 'read':
    case 'moved':
      return { ...memory, ...answered, last }
    case 'ended': {
      const ended = { ...memory, tries: without(memory.tries, last.results) }
      return finalFailure(memory.last) ? { ...ended, last } : ended
    }
    case 'withdrawn':
      return { ...memory, last, tip: undefined }
    case 'cache_renewed':
      return { ...memory, last, cacheRenewedAtMs: nowMs }
    case 'kept':
      return { ...memory, last }
    case 'waited':
      return { ...memory, tip: undefined, refusals: noRefusals }
    case 'idle':
      return { ...newMemory, batchLimit: memory.batchLimit, cacheRenewedAtMs: memory.cacheRenewedAtMs }
  }
}

/** A failure that does not pass by itself. */
export const finalFailure = (last: Outcome): Failed | undefined =>
  last.kind === 'failed' && last.error.retry === 'never' ? last : undefined

/** Words that are not known may come again and again, and a new cache costs the host a fetch. */
const minCacheAgeMs = 60_000

/** A cache that may be damaged. */
export const needsNewCache = ({ last, cacheRenewedAtMs }: BranchMemory): boolean =>
  last.kind === 'failed' && last.error.code === 'broken' && last.failedAtMs - cacheRenewedAtMs > minCacheAgeMs

function afterFailure(memory: BranchMemory, last: Failed, nowMs: number, random: number): BranchMemory {
  if (last.error.retry === 'never' || needsNewCache(memory)) return memory
  const { error, writes, readAtMs } = last
  const firstEndMs = Math.min(...writes.filter(({ isWanted }) => isWanted).map((write) => endMs(write, readAtMs)))
  // what the end of a task cut off says less than what happened before
  const isCutOff = error.code === 'timed_out' && nowMs > firstEndMs
  const concerned = isCutOff ? writes.filter((write) => reasonOf(memory, write) === undefined) : writes
  const tries = noted(memory, writes, () => ({ cause: causeOfFailure[error.code] }))
  const failingSinceMs = memory.failingSinceMs ?? readAtMs
  return paused({ ...memory, failingSinceMs, tries }, { writes: concerned, reason: error.message }, nowMs, random)
}

/** When a write ends unless it has landed, by the clock that showed `readAtMs` when it was read. */
export const endMs = ({ secondsLeft }: OpenWrite, readAtMs: number): number =>
  readAtMs + (secondsLeft - marginSeconds) * 1_000

type Why = Writes & { readonly reason: string }

function paused(memory: BranchMemory, { writes, reason }: Why, nowMs: number, random: number): BranchMemory {
  const failures = memory.failures + 1
  const pause = { untilMs: nowMs + pauseMs(failures, random), reason, taskIds: writes.map(({ taskId }) => taskId) }
  return { ...memory, tip: undefined, failures, pause, tries: noted(memory, writes, () => ({ reason: undefined })) }
}

/** After so many failures in a row: it doubles from a quarter of a second up to 4 s. */
function pauseMs(failures: number, random: number): number {
  return Math.min(maxPauseMs, 125 * 2 ** failures * (0.75 + random / 2))
}

function noted(memory: BranchMemory, writes: readonly OpenWrite[], change: (tried: Tries) => Partial<Tries>) {
  const tries = new Map(memory.tries)
  for (const write of writes) {
    const tried = triesOf(memory, write)
    tries.set(write.taskId, { ...tried, ...change(tried) })
  }
  return tries
}

const without = (tries: BranchMemory['tries'], over: readonly { readonly taskId: string }[]) => {
  const ids = new Set(over.map(({ taskId }) => taskId))
  return new Map([...tries].filter(([taskId]) => !ids.has(taskId)))
}

const halfOf = (writes: readonly OpenWrite[]): number => Math.max(1, Math.floor(writes.length / 2))

const lostRaces = (losses: number): string => `lost ${losses === 1 ? '1 push race' : `${losses} push races`}`

/**
 * One bad commit must not fail the others of its push: they are tried one by one then. When enough of them are refused in
 * the same words, and the rest together too, the host refuses the branch.
 */
function afterRefusal({ refusals }: BranchMemory, { writes, reason }: Why): Pick<BranchMemory, 'refusals' | 'refused'> {
  const words = reason.replace(/[0-9a-f]{7,}|\d+/g, '')
  const isSame = words === refusals.words
  const wereRest = refusals.inARow === maxRefusals
  const isOver = writes.length === 1 || (wereRest && isSame)
  return {
    refusals: wereRest || !isOver ? noRefusals : { words, inARow: isSame ? refusals.inARow + 1 : 1 },
    refused: { reason, taskIds: isOver ? writes.map(({ taskId }) => taskId) : [] },
  }
}

/** A push that was not found out, or may still arrive, is looked for again. */
function lookupsAfter({ lookups }: BranchMemory, isOpen: boolean, nowMs: number, random: number) {
  if (!isOpen) return { failures: 0, againAtMs: nowMs }
  const failures = lookups.failures + 1
  return { failures, againAtMs: nowMs + pauseMs(failures, random) }
}
