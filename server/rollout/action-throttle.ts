import type { Clock } from './delivery-controller.ts'

const windowMs = 1_000
const runsAWindow = 5
const afterTroubleMs = 5_000
const maxRemembered = 1_000

/**
 * A last guard against spinning: a judgement wakes after each action, so an action that changes nothing would be wanted again
 * at once and for ever.
 */
export function createActionThrottle(clock: Pick<Clock, 'nowMs'>) {
  const recent = new Map<string, { readonly untilMs: number; runs: number }>()

  return {
    /** How long this action must wait; 0: it may run. */
    waitMs(key: string): number {
      const known = recent.get(key)
      return known === undefined || known.runs < runsAWindow ? 0 : Math.max(0, known.untilMs - clock.nowMs())
    },
    started(key: string): void {
      const known = recent.get(key)
      if (known !== undefined && known.untilMs > clock.nowMs()) known.runs += 1
      else {
        if (recent.size >= maxRemembered) recent.clear()
        recent.set(key, { untilMs: clock.nowMs() + windowMs, runs: 1 })
      }
    },
    /** It failed as nobody expected. */
    failed(key: string): void {
      recent.set(key, { untilMs: clock.nowMs() + afterTroubleMs, runs: runsAWindow })
    },
  }
}
