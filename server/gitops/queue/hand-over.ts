import type { GitError, GitFailure } from '../git/git-error.ts'
import type { PendingWriteStore, RepositoryClaim } from './pending-write-store.ts'

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
    /** `beganMs`: when the try began. `end`: there is no other replica, and each write that waited as long fails. */
    async failed({ code }: GitError, beganMs: number): Promise<'given' | 'end' | 'wait'> {
      if (!ofThisReplica.has(code)) return 'wait'
      sinceMs ??= beganMs
      const elapsedMs = nowMs() - sinceMs
      if (elapsedMs < giveAfterMs) return 'wait'
      const answer = await store.giveAway(claim)
      if (answer === 'given') return 'given'
      return answer === 'alone' && code === 'machine' && elapsedMs >= endAfterMs ? 'end' : 'wait'
    },
  }
}

/** A write gets that long on a machine that cannot do it. */
export const hasWaitedEnough = ({ waitedSeconds }: { readonly waitedSeconds: number }) =>
  waitedSeconds * 1_000 >= endAfterMs
