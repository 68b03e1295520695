import { createPace } from './pace.ts'
import type { WantedAction } from './rollout-observation.ts'
import type { WatchedApplication } from './watched-application.ts'

/** How many applications a second are looked into, whose Pods are known to be bad and whose rollout is only slow. */
const turnsASecond = { bad: 30, slow: 20 } as const

export type Diagnosis = keyof typeof turnsASecond
export type DiagnosisTurn = { readonly diagnosis: Diagnosis; readonly atMs: number }

/**
 * Reads that explain a rollout and decide nothing wait their turn, one line for the whole replica: thousands of slow rollouts
 * must neither hold up the verdicts on others nor burden the delivery controller. Bad Pods have a line of their own.
 */
export function createDiagnosisTurns() {
  const paces = { bad: createPace(turnsASecond.bad), slow: createPace(turnsASecond.slow) }

  return {
    /** How many milliseconds this action still waits for its turn, which is taken by asking; 0: it may run. */
    waitMs(
      application: Pick<WatchedApplication<unknown>, 'diagnosisTurn'>,
      action: WantedAction,
      nowMs: number,
    ): number {
      if (action.kind !== 'tree' || action.diagnosis === undefined) return 0
      const { diagnosis } = action
      const held = application.diagnosisTurn
      const turn = held?.diagnosis === diagnosis ? held : { diagnosis, atMs: paces[diagnosis].turnAtMs(nowMs) }
      const waitMs = Math.max(0, turn.atMs - nowMs)
      application.diagnosisTurn = waitMs > 0 ? turn : undefined
      return waitMs
    },
  }
}
