/** A clock that never goes back, and timers on it. */
export type Clock = {
  nowMs(): number
  /** Calls back once; the returned function cancels. */
  setTimer(delayMs: number, callback: () => void): () => void
}

/** Milliseconds since the process began, never going back, and the runtime's timers. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
