import type { ObservedApplication } from '../../observed/observed-application.ts'
import type { ApplicationMemory } from './rollout-memory.ts'
import type { Reading, RolloutObservation } from './rollout-observation.ts'
import { type RolloutSettings, rolloutTimes } from './rollout-settings.ts'
import type { WatchedTask } from './watched-task.ts'

export type JudgedTask = Pick<
  WatchedTask,
  'app' | 'images' | 'refresh' | 'acceptedAtMs' | 'appearByMs' | 'createdSeconds' | 'deadlineMs' | 'isOverdue'
>

/** The commit that a rollout must reach. */
export type AwaitedCommit = {
  readonly commit: string
  readonly repository: string
  readonly branch: string
  /** False when nothing had to be committed: the requested content may be older than the task. */
  readonly isNew: boolean
}

/** One task and everything known of its application at one moment. */
export type JudgeInput = ApplicationMemory & {
  readonly task: JudgedTask
  readonly settings: RolloutSettings
  readonly observation: RolloutObservation
  readonly nowMs: number
  readonly application: ObservedApplication
  readonly commit: AwaitedCommit | undefined
}

/** Whether what was read while `version` was the newest speaks of this snapshot. */
export function isCurrent(
  { version }: { readonly version: number },
  { application, observation }: JudgeInput,
): boolean {
  return version >= (observation.known.unchangedSinceVersion ?? application.version) && version <= application.version
}

/** What was read, if that speaks of this snapshot. */
export const currentValue = <Value>(reading: Reading<Value> | undefined, snapshot: JudgeInput): Value | undefined =>
  reading !== undefined && isCurrent(reading, snapshot) ? reading.value : undefined

/** As long as the commit is on its way, nothing that the application shows can end the task. */
export const isAwaitingCommit = ({ observation: { writeBack } }: Pick<JudgeInput, 'observation'>) =>
  writeBack.kind === 'pending' || writeBack.kind === 'undecided'

export const badPodGraceOf = ({ observation, settings }: Pick<JudgeInput, 'observation' | 'settings'>) =>
  observation.annotations.badPodGraceMs ?? settings.badPodGraceMs

/** When no change need be expected any more where another tag ran beside the requested one from the start. */
export const changeOverdueAtMs = ({ acceptedAtMs, refresh }: Pick<JudgedTask, 'acceptedAtMs' | 'refresh'>) =>
  acceptedAtMs + (refresh ? rolloutTimes.changeWaitMs : rolloutTimes.changeWaitWithoutRefreshMs)

/** When an application that is gone since `sinceMs` will not come back any more. */
export const goneForGoodAtMs = (sinceMs: number, { appearByMs }: JudgedTask, { appGoneGraceMs }: RolloutSettings) =>
  Math.max(sinceMs + appGoneGraceMs, appearByMs)

/** Unix seconds of a moment on the judge's clock, counted from when the task was accepted. */
export const secondsAt = ({ createdSeconds, acceptedAtMs }: JudgedTask, atMs: number) =>
  Math.round(createdSeconds * 1_000 + (atMs - acceptedAtMs)) / 1_000
