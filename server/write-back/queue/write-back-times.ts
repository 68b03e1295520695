import type { OpenWrite } from '../decide/branch-memory.ts'
import type { WriteResult } from '../decide/write-result.ts'

/** Who counts what write-backs took. Applications are ones that the delivery controller has shown. */
export type WriteBackMeasures = {
  /** The repository was free for it, after so long in the queue. */
  writeBackBegan(app: string, waitedSeconds: number): void
  /** It has its outcome, so long after it began. */
  writeBackEnded(app: string, seconds: number): void
  /** A push arrived, with so many commits. */
  pushed(commits: number): void
}

/** Tells the measures of each write-back once, however often it is tried. */
export function createWriteBackTimes(measures: WriteBackMeasures, nowMs: () => number) {
  const begun = new Map<string, { readonly app: string; readonly atMs: number }>()
  return {
    began(writes: readonly OpenWrite[]) {
      for (const { taskId, plan, waitedSeconds } of writes) {
        if (begun.has(taskId)) continue
        begun.set(taskId, { app: plan.app, atMs: nowMs() })
        measures.writeBackBegan(plan.app, waitedSeconds)
      }
    },

    ended(results: readonly WriteResult[]) {
      for (const { taskId } of results) {
        const found = begun.get(taskId)
        if (found === undefined) continue // begun by an owner before us, or never
        begun.delete(taskId)
        measures.writeBackEnded(found.app, (nowMs() - found.atMs) / 1000)
      }
    },
  }
}
