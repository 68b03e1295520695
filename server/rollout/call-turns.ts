import { createPace, type Pace } from './pace.ts'
import type { WantedAction } from './rollout-observation.ts'
import { rolloutTimes } from './rollout-settings.ts'
import type { TaskState, WatchedApplication } from './watched-application.ts'

/**
 * Turns a second of all replicas together: of direct reads, and of looks into applications whose Pods are known to be bad
 * and whose rollout is only slow. Neither the delivery controller nor a verdict on another application suffers from so many.
 */
const turnsASecond = { directReads: 40, bad: 30, slow: 20 } as const

export type CallPaces = Readonly<Record<keyof typeof turnsASecond, Pace>>
export type Diagnosis = 'bad' | 'slow'
export type CallLine = Diagnosis | 'resumed'

/** `replicas`: how many share the delivery controller. */
export function createCallPaces(replicas: () => number): CallPaces {
  const shareOf = (all: number) => createPace(() => all / replicas())
  const { directReads, bad, slow } = turnsASecond
  return { directReads: shareOf(directReads), bad: shareOf(bad), slow: shareOf(slow) }
}

type Turning = Pick<WatchedApplication<unknown>, 'callTurns'>
type TurningTask = {
  readonly task: Pick<TaskState<unknown>['task'], 'claim' | 'deadlineMs'>
  readonly memory: Pick<TaskState<unknown>['memory'], 'candidate'>
}

/**
 * Calls for which no verdict waits take turns, in lines for the whole replica: thousands of slow rollouts, or all tasks of
 * replicas that have died, must neither hold up the verdicts on others nor burden the delivery controller. Bad Pods have a
 * line of their own; slow rollouts come after what is asked for resumed tasks, which share a line with the stream's reads.
 */
export function createCallTurns(paces: CallPaces) {
  let resumedUntilMs = Number.NEGATIVE_INFINITY

  const nextTurnMs = (line: CallLine, nowMs: number): number => {
    if (line === 'slow') return paces.slow.turnAtMs(Math.max(nowMs, resumedUntilMs))
    if (line === 'bad') return paces.bad.turnAtMs(nowMs)
    resumedUntilMs = paces.directReads.turnAtMs(nowMs)
    return resumedUntilMs
  }

  return {
    /** How many milliseconds this action still waits for its turn, which is taken by asking; 0: it may run. */
    waitMs({ callTurns }: Turning, state: TurningTask, action: WantedAction, nowMs: number): number {
      const line = lineOf(state, action, nowMs)
      if (line === undefined) return 0
      const atMs = callTurns.get(line) ?? nextTurnMs(line, nowMs)
      if (atMs > nowMs) callTurns.set(line, atMs)
      else callTurns.delete(line)
      return Math.max(0, atMs - nowMs)
    },
  }
}

/** Undefined: it waits for nobody. */
function lineOf({ task, memory }: TurningTask, action: WantedAction, nowMs: number): CallLine | undefined {
  if (action.kind === 'tree') return action.diagnosis
  if (action.kind !== 'read' && action.kind !== 'refresh') return undefined
  const isUrgent = memory.candidate !== undefined || task.deadlineMs - nowMs < rolloutTimes.urgentMs
  return task.claim.fence === '1' || isUrgent ? undefined : 'resumed'
}
