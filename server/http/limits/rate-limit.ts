import type { RequestOrigin } from './client-address.ts'

const windowMs = 60_000
/** Addresses that are counted at once. */
const maxCounted = 100_000

/** Counts what clients do, in windows of a minute that begin with the first. */
export function createRateLimit(maxPerMinute: number, nowMs: () => number) {
  const windows = new Map<string, { count: number; readonly endsMs: number }>()

  const currentOf = (address: string) => {
    const known = windows.get(address)
    if (known && nowMs() < known.endsMs) return known
    windows.delete(address) // so that the map stays in the order in which windows end
    for (const [other, { endsMs }] of windows) {
      if (endsMs > nowMs() && windows.size < maxCounted) break
      windows.delete(other)
    }
    const begun = { count: 0, endsMs: nowMs() + windowMs }
    windows.set(address, begun)
    return begun
  }

  return {
    maxPerMinute,
    /** Counts one more. @returns the seconds until the window ends where that is one too many, which then does not count */
    acquire({ address, weight }: RequestOrigin): number | undefined {
      const window = currentOf(address)
      if (window.count >= maxPerMinute * weight) return Math.ceil((window.endsMs - nowMs()) / 1000)
      window.count += 1
      return undefined
    },
    /** For what turned out not to count. */
    release({ address }: RequestOrigin): void {
      const window = windows.get(address)
      if (window && window.count > 0) window.count -= 1
    },
  }
}
export type RateLimit = ReturnType<typeof createRateLimit>
