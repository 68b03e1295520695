type Times = {
  nowMs(): number
  /** From one start under a key to the next. */
  readonly minIntervalMs: number
  /** After work that threw. */
  readonly afterFailureMs: number
}

/**
 * Runs the work of each key once at a time, for all who want it, and not again at once: what is wanted whenever something
 * was found out would else be wanted for ever where it finds nothing.
 */
export function createThrottle({ nowMs, minIntervalMs, afterFailureMs }: Times) {
  const flights = new Map<string, { isRunning: boolean; freeAtMs: number }>()

  const forgetOld = () => {
    for (const [key, { isRunning, freeAtMs }] of flights) if (!isRunning && freeAtMs <= nowMs()) flights.delete(key)
  }

  return {
    isRunning: (key: string): boolean => flights.get(key)?.isRunning ?? false,
    /** How long until work under the key may start; 0: now, unless it runs. */
    waitMs: (key: string): number => Math.max(0, (flights.get(key)?.freeAtMs ?? 0) - nowMs()),
    /** @throws what the work throws */
    async run(key: string, work: () => Promise<void>): Promise<void> {
      forgetOld()
      const flight = { isRunning: true, freeAtMs: nowMs() + minIntervalMs }
      flights.set(key, flight)
      try {
        await work()
      } catch (error) {
        flight.freeAtMs = nowMs() + afterFailureMs
        throw error
      } finally {
        flight.isRunning = false
      }
    },
  }
}
