/** What is known of one query on the page. `dataUpdatedAt` is in Unix milliseconds, 0 = never. */
export type ReadState = {
  readonly dataUpdatedAt: number
  readonly status: 'pending' | 'error' | 'success'
  readonly error: Error | null
}

/** `unanswered`: there was nothing to keep. `stale`: what is shown is from `since` (Unix milliseconds). */
export type Liveness = { kind: 'live' } | { kind: 'unanswered' } | { kind: 'stale'; since: number }

const staleAfterMs = 20_000

/**
 * Whether the page shows what is: the oldest data on it whose newest read failed tells, once it is more than 20 s old.
 * An answer that refuses (404, 400) is an answer: `isRefusal` says which errors are.
 */
export function liveness(reads: readonly ReadState[], now: number, isRefusal: (error: Error) => boolean): Liveness {
  const failing = reads.filter(({ status, error }) => status === 'error' && error !== null && !isRefusal(error))
  const ages = failing.map(({ dataUpdatedAt }) => dataUpdatedAt).filter((at) => at > 0)
  const since = Math.min(...ages)
  if (ages.length > 0 && now - since > staleAfterMs) return { kind: 'stale', since }
  return failing.length > ages.length ? { kind: 'unanswered' } : { kind: 'live' }
}
