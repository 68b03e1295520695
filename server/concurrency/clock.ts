import type { Clock } from '../rollout/watch/delivery-controller.ts'

/** Milliseconds since the process began, never going back, and the runtime's timers. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
