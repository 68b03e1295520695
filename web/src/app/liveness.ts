import type { ConnectionState } from '../live/live-connection.ts'

/** What is known of one query on the page. `dataUpdatedAt` is in Unix milliseconds, 0 = never. */
export type ReadState = {
  readonly dataUpdatedAt: number
  readonly status: 'pending' | 'error' | 'success'
  readonly error: Error | null
}

/**
 * `cut`: there is no stream since `since`, but reads are answered. `stale`: nor are they, and what is shown is from `since`.
 * `unanswered`: there was nothing to keep. Both times are Unix milliseconds.
 */
export type Liveness =
  | { readonly kind: 'connecting' | 'live' | 'unanswered' }
  | { readonly kind: 'cut' | 'stale'; readonly since: number }

const staleAfterMs = 20_000
/** A replica that restarts is back at the first attempt: that is not worth a notice. */
const quietAttempts = 1

/**
 * Whether the page shows what is: the oldest data on it whose newest read failed tells, once it is more than 20 s old, and
 * then the stream, whose events kept all of it up to date until it was cut. A rejection (404, 400) is an answer:
 * `isRejection` says which errors are.
 */
export function liveness(
  reads: readonly ReadState[],
  connection: ConnectionState,
  now: number,
  isRejection: (error: Error) => boolean,
): Liveness {
  const failing = reads.filter(({ status, error }) => status === 'error' && error !== null && !isRejection(error))
  const ages = failing.map(({ dataUpdatedAt }) => dataUpdatedAt).filter((at) => at > 0)
  const since = Math.max(Math.min(...ages), connection.kind === 'cut' ? connection.sinceMs : 0)
  if (ages.length > 0 && now - since > staleAfterMs) return { kind: 'stale', since }
  if (failing.length > ages.length) return { kind: 'unanswered' }
  if (connection.kind !== 'cut') return { kind: connection.kind }
  return connection.attempts > quietAttempts ? { kind: 'cut', since: connection.sinceMs } : { kind: 'connecting' }
}
