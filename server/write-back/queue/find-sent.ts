import type { OpenWrite } from '../decide/branch-memory.ts'
import { droppedResult, landedResult, unchangedResult, type WriteResult } from '../decide/write-result.ts'
import { GitError } from '../git/access/git-error.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { GitRepository } from '../git/push/git-repository.ts'
import type { PendingWriteStore, WriteQueue } from './pending-write-store.ts'
import { filesToRead, planBatch } from './plan-batch.ts'

type SearchDeps = {
  readonly store: Pick<PendingWriteStore, 'hasNewerTask'>
  readonly history: Pick<CommitHistory, 'trailersBetween'>
}

/** What became of pushes without an answer. `absent`: their commits are not on the branch and cannot come any more. */
type Found = {
  readonly results: readonly WriteResult[]
  readonly absent: readonly string[]
  /** Where the history could not be read. */
  readonly failure: { readonly reason: string; readonly taskIds: readonly string[] } | undefined
}

/**
 * Looks on the branch, which is at `tip`, for commits whose push onto another base had no answer: a branch that has left the
 * base of a push cannot take that push any more, so what is not there then never will be. The history may fail for one base
 * and be there for another.
 */
export async function findSent(
  { address, branch }: WriteQueue,
  writes: readonly OpenWrite[],
  tip: string,
  repository: Pick<GitRepository, 'readFiles'>,
  { store, history }: SearchDeps,
): Promise<Found> {
  const results: WriteResult[] = []
  const absent: string[] = []
  let failure: Found['failure']

  async function classify(write: OpenWrite, landed: string | undefined): Promise<WriteResult | undefined> {
    if (landed !== undefined) {
      const when = write.isWanted ? 'its push had no answer' : 'the task had ended'
      return landedResult(write, landed, branch, `, found on the branch after ${when}`)
    }
    if (!write.isWanted) return droppedResult(write)
    const { unchanged } = await planBatch(
      [write],
      await repository.readFiles({ commit: tip, isFresh: true }, filesToRead([write])),
    )
    if (unchanged.length === 0 || (await store.hasNewerTask(write.taskId))) return undefined
    return unchangedResult(write, tip, branch)
  }

  for (const [base = tip, onBase] of Map.groupBy(writes, (write) => write.base)) {
    try {
      const trailers = await history.trailersBetween(address, base, tip)
      for (const write of onBase) {
        const result = await classify(write, trailers.get(write.taskId))
        if (result === undefined) absent.push(write.taskId)
        else results.push(result)
      }
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const found = new Set([...results.map(({ taskId }) => taskId), ...absent])
      const unknown = onBase.map(({ taskId }) => taskId).filter((taskId) => !found.has(taskId))
      failure = { reason: error.message, taskIds: [...(failure?.taskIds ?? []), ...unknown] }
    }
  }
  return { results, absent, failure }
}
