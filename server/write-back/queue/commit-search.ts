import { createSemaphore, type Semaphore } from '../../concurrency/semaphore.ts'
import type { WriteResult } from '../decide/write-result.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import type { PendingWriteStore } from './pending-write-store.ts'

type SearchDeps = {
  readonly store: Pick<PendingWriteStore, 'showCommit'>
  readonly history: Pick<CommitHistory, 'commitThatSet'>
  /** Of a repository's address. */
  readonly hostOf: (address: string) => string
  readonly onShown: (taskId: string) => void
  readonly onError: (error: unknown, plan: WriteBackPlan) => void
}

/**
 * Searches the commits that set what tasks found on their branch, one at a time on each host. It begins when the outcome is
 * recorded, so no verdict waits for it; what this replica does not find before it ends, the task does not show.
 */
export function createCommitSearch({ store, history, hostOf, onShown, onError }: SearchDeps) {
  const hosts = new Map<string, Semaphore>()
  const running = new Set<Promise<void>>()
  let isClosed = false

  function turnOf({ address }: WriteBackPlan): Semaphore {
    const host = hostOf(address)
    const turn = hosts.get(host) ?? createSemaphore(1)
    hosts.set(host, turn)
    return turn
  }

  async function search(taskId: string, plan: WriteBackPlan, branch: string, tip: string): Promise<void> {
    if (isClosed) return
    const commit = await history.commitThatSet(plan, branch, tip)
    if (commit !== undefined && (await store.showCommit(taskId, commit))) onShown(taskId)
  }

  return {
    begin(results: readonly WriteResult[]): void {
      for (const { taskId, outcome, found } of results) {
        if (outcome.kind !== 'unchanged' || found === undefined) continue
        const searching = turnOf(found)
          .use(() => search(taskId, found, outcome.branch, outcome.commit))
          .catch((error: unknown) => onError(error, found))
          .finally(() => running.delete(searching))
        running.add(searching)
      }
    },
    /** Begins no other one, and ends with those under way. */
    async close(): Promise<void> {
      isClosed = true
      await Promise.all(running)
    },
  }
}
