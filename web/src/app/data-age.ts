/** What is known of one query on the page. Times are Unix milliseconds, 0 = never. */
export type ReadState = { readonly dataUpdatedAt: number; readonly status: 'pending' | 'error' | 'success' }

export const staleAfterMs = 20_000

/**
 * Since when the page is not live, in Unix milliseconds: the oldest data on it whose newest read failed, once that
 * data is more than 20 s old. Undefined while it is live, and for a query that never had data (its page says so itself).
 */
export function notLiveSince(reads: readonly ReadState[], now: number): number | undefined {
  const failing = reads.filter(({ status, dataUpdatedAt }) => status === 'error' && dataUpdatedAt > 0)
  const oldest = Math.min(...failing.map(({ dataUpdatedAt }) => dataUpdatedAt))
  return failing.length > 0 && now - oldest > staleAfterMs ? oldest : undefined
}
