import { LRUCache } from 'lru-cache'
import type { AppSummaries } from '../../../contract/app-summary.ts'

const keptMs = 5_000
/** The window that the pages ask for, and one more. */
const maxKept = 2

/** Keeps the summaries of a window for five seconds, so that the history is read once for all pages that ask. */
export function createAppSummaries(read: (days: number) => Promise<AppSummaries>, nowMs: () => number) {
  const kept = new LRUCache<number, Promise<AppSummaries>>({
    max: maxKept,
    ttl: keptMs,
    ttlResolution: 0,
    perf: { now: nowMs },
  })
  return (days: number): Promise<AppSummaries> => {
    const known = kept.get(days)
    if (known) return known
    const reading = read(days).catch((error: unknown) => {
      if (kept.peek(days) === reading) kept.delete(days)
      throw error
    })
    kept.set(days, reading)
    return reading
  }
}
