const firstRetryMs = 250
const maxRetryAfterMs = 10_000

/** What a call came to, as far as another try depends on it. No status: no answer. */
export type TriedCall = { readonly status?: number; readonly retryAfterMs?: number | undefined }

/** Whether the same call may do better soon: no answer, too busy, or something on the way failed. */
export function isWorthRetrying({ status }: TriedCall): boolean {
  return status === undefined || status >= 500 || status === 429 || status === 408
}

/**
 * Milliseconds until the next try: twice as long each time, apart from others by up to half as much again, and never less
 * than the answer asked for.
 *
 * @param random between 0 and 1
 */
export function retryDelayMs({ retryAfterMs }: TriedCall, attempt: number, random: number): number {
  return Math.max(firstRetryMs * 2 ** attempt * (0.5 + random), retryAfterMs ?? 0)
}

/** `Retry-After` in milliseconds, 10 s at most; a date or anything else counts as absent. */
export function parseRetryAfter(header: string | null): number | undefined {
  const seconds = header === null ? Number.NaN : Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, maxRetryAfterMs) : undefined
}
