import type { Clock } from '../../concurrency/clock.ts'
import { createRateLimiter, type RateLimiter } from '../../concurrency/rate-limiter.ts'

/** Calls a second, for all replicas together, that only explain or are of tasks that were just taken over (F45). */
const callsPerSecond = 40
/** What a few tasks that change hands need. */
const maxSavedSeconds = 0.1
/** Of one replica; the client has connections for many more. */
export const maxRunningCalls = 16

/** Limits the calls to the delivery controller. `replicas`: how many share it. */
export const createCallLimiter = (clock: Clock, replicas: () => number): RateLimiter =>
  createRateLimiter({
    clock,
    perSecond: () => callsPerSecond / replicas(),
    maxSavedSeconds,
    maxRunning: maxRunningCalls,
  })
