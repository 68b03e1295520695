import type { GitError, GitFailure } from '../git/access/git-error.ts'
import type { OpenWrite, PendingWriteStore, RepositoryClaim } from './pending-write-store.ts'

/** What another replica may fare better with: its disk, or its way to the Git host. */
const ofThisReplica: ReadonlySet<GitFailure> = new Set(['machine', 'unreachable', 'timed_out'])
const giveAfterMs = 10_000
const endAfterMs = 20_000

/** Decides what becomes of a repository whose owner fails to do its work, once it has failed for a while. */
export function createHandOver(
  claim: RepositoryClaim,
  store: Pick<PendingWriteStore, 'giveAway'>,
  nowMs: () => number,
) {
  let sinceMs: number | undefined

  return {
    succeeded(): void {
      sinceMs = undefined
    },
    /**
     * `beganMs`: when the try began. Returns the writes that fail with the error: those that have waited long enough for a
     * machine that cannot do its work, while no other replica takes them.
     */
    async failed(
      { code }: GitError,
      beganMs: number,
      writes: readonly OpenWrite[],
    ): Promise<'handed_over' | readonly OpenWrite[]> {
      if (!ofThisReplica.has(code)) return []
      sinceMs ??= beganMs
      const elapsedMs = nowMs() - sinceMs
      if (elapsedMs < giveAfterMs) return []
      if (await store.giveAway(claim)) return 'handed_over'
      if (code !== 'machine' || elapsedMs < endAfterMs) return []
      return writes.filter(({ isWanted, waitedSeconds }) => isWanted && waitedSeconds * 1_000 >= endAfterMs)
    },
  }
}
