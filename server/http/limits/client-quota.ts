import type { RequestOrigin } from './client-address.ts'

/** Counts what clients hold at the same time, so that none takes all there is. */
export function createClientQuota(maxPerClient: number, maxInAll: number) {
  const taken = new Map<string, number>()
  let takenInAll = 0

  return {
    taken: () => takenInAll,
    /** @returns how to give it back, once; or undefined where there is none left */
    acquire({ address, weight }: RequestOrigin): (() => void) | undefined {
      const own = taken.get(address) ?? 0
      if (takenInAll >= maxInAll || own >= maxPerClient * weight) return undefined
      takenInAll += 1
      taken.set(address, own + 1)
      return () => {
        takenInAll -= 1
        const left = (taken.get(address) ?? 1) - 1
        if (left > 0) taken.set(address, left)
        else taken.delete(address)
      }
    },
  }
}
export type ClientQuota = ReturnType<typeof createClientQuota>
