import { setTimeout as delay } from 'node:timers/promises'

/** Rests twice as long as the work since `beganMs` took, so that submissions and verdicts go first; no longer once aborted. */
export const restAfter = (beganMs: number, signal?: AbortSignal): Promise<void> =>
  delay((performance.now() - beganMs) * 2, undefined, signal && { signal }).catch(() => undefined)
