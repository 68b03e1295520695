import {
  endMs,
  maxBatch,
  maxPauseMs,
  newMemory,
  type OpenWrite,
  type Outcome,
  remember,
} from '../decide/branch-memory.ts'
import { nextStep, type Step } from '../decide/next-step.ts'
import type { WriteResult } from '../decide/write-result.ts'
import { GitError } from '../git/access/git-error.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { GitRepository } from '../git/push/git-repository.ts'
import { findSent } from './find-sent.ts'
import type { PendingWriteStore, WriteQueue } from './pending-write-store.ts'
import { pushBatch } from './push-batch.ts'
import { createWriteBackTimes, type WriteBackMeasures } from './write-back-times.ts'

type PerformerDeps = {
  readonly store: PendingWriteStore
  readonly history: CommitHistory
  /** False once the replica may own nothing any more, or is closing. */
  readonly canContinue: (queue: WriteQueue) => boolean
  /** Limits who works with the branch's cache, and how many on one host at once. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly onRecorded: (results: readonly WriteResult[]) => void
  readonly onEvents: (taskIds: readonly string[]) => void
  /** `run` has something to do again. */
  readonly onReady: () => void
  readonly measures: WriteBackMeasures
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly random: () => number
}

/** How often `run` is called while a write is open. */
export const sweepMs = 3_000

/** Takes the steps of one branch by one address while this replica owns the repository. What to do is decided by `nextStep`. */
export function createStepPerformer(queue: WriteQueue, repository: GitRepository, deps: PerformerDeps) {
  const { store, nowMs } = deps
  const times = createWriteBackTimes(deps.measures, nowMs)
  let memory = newMemory

  /** Takes steps until nothing is open, or everything has to wait. */
  async function run(): Promise<void> {
    let goesOn = true
    while (goesOn && deps.canContinue(queue)) goesOn = await deps.inTurn(takeStep)
  }

  async function takeStep(): Promise<boolean> {
    const open = await store.openWrites(queue, maxBatch)
    const readAtMs = nowMs()
    const step = nextStep({ branch: queue.branch, open, memory }, readAtMs)
    endCommandsWith(step.kind === 'push' ? step.batch : open, readAtMs)
    const outcome = await perform(step, readAtMs).catch((error: unknown) => {
      if (!(error instanceof GitError)) throw error
      return {
        kind: 'failed',
        error,
        writes: open,
        readAtMs,
        failedAtMs: nowMs(),
        wasMoving: step.kind === 'move',
      } as const
    })
    if (outcome === undefined) return false
    const { pause } = memory
    memory = remember(memory, outcome, nowMs(), deps.random())
    if (memory.pause !== undefined && memory.pause !== pause) await reportReason(memory.pause)
    return outcome.kind !== 'waited' && outcome.kind !== 'idle'
  }

  /** undefined: another replica owns the repository now. */
  async function perform(step: Step, readAtMs: number): Promise<Outcome | undefined> {
    switch (step.kind) {
      case 'end':
        return (await record(step.results)) ? { kind: 'ended', results: step.results } : undefined
      case 'push':
        times.began(step.batch)
        return pushBatch(queue, repository, { ...deps, record, publish }, { ...step, memory, readAtMs })
      case 'resolve':
        return resolve(step.writes)
      case 'move': {
        const name = await repository.readDefaultBranch(step.maxAgeMs)
        if (name === queue.branch && step.gone !== undefined) throw step.gone
        await store.moveToBranch(queue, idsOf(step.writes), name)
        deps.onReady()
        return (await store.owns(queue)) ? { kind: 'moved' } : undefined
      }
      case 'hand_over':
        return (await store.giveAway(queue)) ? undefined : { kind: 'kept', failed: step.failed }
      case 'renew_cache':
        await repository.discardCache()
        return { kind: 'cache_renewed' }
      case 'wait': {
        const ms = Math.max(0, step.untilMs - nowMs())
        if (ms <= maxPauseMs) void deps.pause(ms).then(deps.onReady) // else one of the next sweeps comes first
        return { kind: 'waited' }
      }
      case 'idle':
        return { kind: 'idle' }
    }
  }

  async function resolve(writes: readonly OpenWrite[]): Promise<Outcome | undefined> {
    const tip = (await repository.readTip('fresh')).commit
    const [moved, atTip] = [writes.filter(({ base }) => base !== tip), writes.filter(({ base }) => base === tip)]
    const { results, absent, failure } = await findSent(queue, moved, tip, repository, deps)
    if (!(await record(results))) return undefined
    await store.queueAgain(queue, absent)
    if (failure !== undefined) await reportReason(failure)
    return { kind: 'resolved', tip, isOpen: failure !== undefined || atTip.some(({ isWanted }) => !isWanted) }
  }

  async function reportReason({ reason, taskIds }: { readonly reason: string; readonly taskIds: readonly string[] }) {
    deps.onEvents(await store.recordReason(queue, taskIds, reason))
  }

  async function record(results: readonly WriteResult[]): Promise<boolean> {
    if (results.length === 0) return true
    const isRecorded = await store.record(queue, results)
    if (isRecorded) publish(results)
    return isRecorded
  }

  function publish(results: readonly WriteResult[]): void {
    times.ended(results)
    deps.onRecorded(results)
  }

  /** A command that outlives the last of its tasks is of no use; what it did is reported before that. */
  function endCommandsWith(writes: readonly OpenWrite[], readAtMs: number): void {
    const ends = writes.filter(({ isWanted }) => isWanted).map((write) => endMs(write, readAtMs))
    repository.endCommandsAt(ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends) + 1_000)
  }

  return { run }
}

export type StepPerformer = ReturnType<typeof createStepPerformer>

const idsOf = (writes: readonly OpenWrite[]): readonly string[] => writes.map(({ taskId }) => taskId)
