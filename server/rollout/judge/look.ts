import type { GateContext } from './gates.ts'
import type { Gates } from './judge-gates.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './rollout-settings.ts'
import { settleMs } from './settle.ts'
import type { WatchedTask } from './watched-task.ts'

export type JudgedTask = Pick<WatchedTask, 'images' | 'refresh' | 'acceptedAtMs' | 'deadlineMs' | 'isOverdue'>

/** One task judged at one moment: what is known, which gates are open and what is remembered, this moment included. */
export type Look = {
  readonly task: JudgedTask
  readonly observation: RolloutObservation
  readonly settings: RolloutSettings
  readonly nowMs: number
  readonly context: GateContext
  readonly gates: Gates
  readonly memory: RolloutMemory
}

/** As long as our own commit is on its way, nothing that the application shows can end the task. */
export const isAwaitingCommit = ({ observation: { writeBack } }: Pick<Look, 'observation'>) =>
  writeBack.kind === 'pending' || writeBack.kind === 'undecided'

export const badPodGraceOf = ({ observation, settings }: Pick<Look, 'observation' | 'settings'>) =>
  observation.annotations.badPodGraceMs ?? settings.badPodGraceMs

/** When nobody's change need be expected any more where another tag ran beside the requested one from the start. */
export const changeOverdueAtMs = ({ acceptedAtMs, refresh }: JudgedTask) =>
  acceptedAtMs + (refresh ? rolloutTimes.changeWaitMs : rolloutTimes.changeWaitWithoutRefreshMs)

export const settleTimeOf = ({ context, settings }: Look) => settleMs(context, settings.settleMs)
