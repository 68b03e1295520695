type Times = {
  nowMs(): number
  /** From one start under a key to the next. */
  readonly minIntervalMs: number
  /** After work that threw. */
  readonly afterFailureMs: number
}

/**
 * Runs the work of each key once at a time, and not again at once: work that is wanted whenever something was found out would
 * otherwise be repeated without end where it finds nothing.
 */
export function createThrottle({ nowMs, minIntervalMs, afterFailureMs }: Times) {
  const works = new Map<string, { isRunning: boolean; freeAtMs: number }>()

  const isRunning = (key: string): boolean => works.get(key)?.isRunning ?? false
  const forgetOld = () => {
    for (const [key, work] of works) if (!work.isRunning && work.freeAtMs <= nowMs()) works.delete(key)
  }

  return {
    isRunning,
    /** How long until work under the key may start; 0: now, unless it runs. */
    waitMs: (key: string): number => Math.max(0, (works.get(key)?.freeAtMs ?? 0) - nowMs()),
    /** Does nothing while work of the key runs. @throws what the work throws */
    async run(key: string, work: () => Promise<void>): Promise<void> {
      if (isRunning(key)) return
      forgetOld()
      const running = { isRunning: true, freeAtMs: nowMs() + minIntervalMs }
      works.set(key, running)
      try {
        await work()
      } catch (error) {
        running.freeAtMs = nowMs() + afterFailureMs
        throw error
      } finally {
        running.isRunning = false
      }
    },
  }
}
