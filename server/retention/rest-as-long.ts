import { setTimeout as delay } from 'node:timers/promises'

/** Rests as long as the work since `beganMs` took, so that submissions and verdicts go first; no longer once aborted. */
export const restAsLong = (beganMs: number, signal?: AbortSignal): Promise<void> =>
  delay(performance.now() - beganMs, undefined, signal && { signal }).catch(() => undefined)
