import type { CommitHistory } from '../git/history/commit-history.ts'
import type { Tip } from '../git/push/git-repository.ts'
import type { OpenWrite, PendingWriteStore, WriteQueue } from './pending-write-store.ts'
import type { BatchPlan, PlannedWrite } from './plan-batch.ts'
import { retryPauseMs } from './retry-pause.ts'
import { droppedResult, landedResult, unchangedResult, type WriteResult } from './write-result.ts'

type TracerDeps = {
  readonly store: Pick<PendingWriteStore, 'hasNewerTask'>
  readonly history: Pick<CommitHistory, 'trailersBetween'>
  readonly planAt: (tip: Tip, batch: readonly PlannedWrite[]) => Promise<BatchPlan>
  readonly pause: (ms: number) => Promise<void>
  readonly random: () => number
  /** There may be something to `take`, or it is time to begin again. */
  readonly onIdle: () => void
}

/** What became of pushes without an answer. `absent`: their commits are not on the branch and cannot come any more. */
type Traces = {
  readonly results: readonly WriteResult[]
  readonly absent: readonly string[]
  readonly failure: { readonly error: unknown; readonly taskIds: readonly string[] } | undefined
}

/**
 * Looks for commits whose push had no answer, beside the pushes: the history may take long to come, or not come at all.
 * A branch that has left the base of a push cannot take that push any more, so what is not there then never will be.
 */
export function createPushTracer({ address, branch }: WriteQueue, deps: TracerDeps) {
  const { history } = deps
  let isBusy = false
  let failures = 0
  let results: WriteResult[] = []
  let absent: string[] = []
  let failed: { error: unknown; taskIds: string[] } | undefined

  async function trace(writes: readonly OpenWrite[], tip: Tip): Promise<void> {
    const reads = new Map<string, Promise<ReadonlyMap<string, string>>>()
    for (const write of writes) {
      const { taskId, base = tip.commit } = write
      const read = reads.get(base) ?? history.trailersBetween(address, base, tip.commit)
      reads.set(base, read)
      try {
        const result = await classify(write, tip, (await read).get(taskId))
        if (result === undefined) absent.push(taskId)
        else results.push(result)
      } catch (error) {
        failed = { error, taskIds: [...(failed?.taskIds ?? []), taskId] }
      }
    }
    failures = failed === undefined ? 0 : failures + 1
  }

  async function classify(write: OpenWrite, tip: Tip, landed: string | undefined): Promise<WriteResult | undefined> {
    const { taskId, isWanted } = write
    if (landed !== undefined) {
      const when = isWanted ? 'its push had no answer' : 'the task had ended'
      return landedResult(write, landed, branch, `, found on the branch after ${when}`)
    }
    if (!isWanted) return droppedResult(write)
    const { unchanged } = await deps.planAt(tip, [write])
    if (unchanged.length === 0 || (await deps.store.hasNewerTask(taskId))) return undefined
    return unchangedResult(write, tip.commit, branch)
  }

  async function rest(): Promise<void> {
    if (failures > 0) await deps.pause(retryPauseMs(failures, deps.random))
    isBusy = false
    deps.onIdle()
  }

  return {
    /** Under way, resting after a failure, or not taken yet: what was found is recorded before it is looked for again. */
    isBusy: () => isBusy || results.length > 0 || absent.length > 0 || failed !== undefined,
    /** Looks for pushes that were built on another commit than `tip`; ends with `onIdle`. */
    begin(writes: readonly OpenWrite[], tip: Tip): void {
      isBusy = true
      void trace(writes, tip).then(rest)
    },
    /** The branch still stands where they were built: they may yet arrive. */
    retryLater(): void {
      isBusy = true
      failures += 1
      void rest()
    },
    take(): Traces {
      const taken = { results, absent, failure: failed }
      results = []
      absent = []
      failed = undefined
      return taken
    },
  }
}
