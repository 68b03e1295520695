import type { ApplicationReference } from '../../../contract/application-name.ts'
import type { Clock } from '../../concurrency/clock.ts'
import { createThrottle } from '../../concurrency/throttle.ts'
import type { WriteBackPlan } from '../../write-back/plan/plan-write-back.ts'
import type { RolloutMemory } from '../judge/input/rollout-memory.ts'
import type { NextAction, RolloutObservation } from '../judge/input/rollout-observation.ts'
import type { Baseline, RolloutAnnotations, WatchedTask, WriteBackState } from '../judge/input/watched-task.ts'
import type { ApplicationAddress } from '../observed/delivery-controller.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import { createObservations, type Observations } from './observations.ts'
import type { createTaskWrites } from './task-writes.ts'

/** What the watcher holds of one task. */
export type TaskState = {
  readonly task: WatchedTask
  readonly overrides: Map<string, ReadonlyMap<string, string> | undefined>
  readonly writes: ReturnType<typeof createTaskWrites>
  memory: RolloutMemory
  /** What it was last judged to need. */
  actions: readonly NextAction[]
  savedBaseline: Baseline | undefined
  writeBack: WriteBackState
  plan: WriteBackPlan | undefined
  hasAppUrl: boolean
  /** As it was last written down. */
  externalUrl: string | undefined
  isOver: boolean
  /** When the timer that `cancelTimer` ends evaluates again. */
  evaluateAtMs: number
  cancelTimer: () => void
}

/** What the watcher holds of one application, shared by all tasks that wait for it. */
export type WatchedApplication = {
  readonly app: string
  readonly reference: ApplicationReference
  readonly tasks: Map<string, TaskState>
  /** What is done about it: each action once at a time, for all its tasks. */
  readonly throttle: ReturnType<typeof createThrottle>
  /** Keys of the actions that wait for the limiter. */
  readonly queued: Set<string>
  readonly observations: Observations
}

/**
 * Tasks of one application come, land and end close together: their calls are this far apart, so that each serves several,
 * and a reading of one snapshot waits until it has stood this long.
 */
export const shareWindowMs = 200
const afterFailureMs = 5_000

export function watchedApplication(
  app: string,
  reference: ApplicationReference,
  clock: Pick<Clock, 'nowMs'>,
  controlPlaneNamespace: string,
): WatchedApplication {
  return {
    app,
    reference,
    tasks: new Map(),
    throttle: createThrottle({ nowMs: clock.nowMs, minIntervalMs: shareWindowMs, afterFailureMs }),
    queued: new Set(),
    observations: createObservations(reference, clock, controlPlaneNamespace),
  }
}

export const hasCommitsOnTheirWay = ({ tasks }: Pick<WatchedApplication, 'tasks'>) =>
  [...tasks.values()].some(({ writeBack, isOver }) => writeBack.kind === 'pending' && !isOver)

/** With the project, once it is known, a missing application is told from a forbidden one. */
export function addressOf({ reference, observations }: WatchedApplication): ApplicationAddress {
  const project = observations.facts.known.newest?.project
  return { ...reference, project: project === '' ? undefined : project }
}

const noAnnotations: RolloutAnnotations = {
  notes: [],
  fireAndForget: false,
  skipImageValidation: false,
  acceptSuspended: undefined,
  badPodGraceMs: undefined,
}

export function observationOf(
  { observations: { facts } }: WatchedApplication,
  state: TaskState,
  annotations: (application: ObservedApplication) => RolloutAnnotations,
  unreachable: RolloutObservation['unreachable'],
): RolloutObservation {
  const { newest } = facts.known
  return {
    ...facts,
    annotations: newest === undefined ? noAnnotations : annotations(newest),
    writeBack: state.writeBack,
    overrides: state.overrides,
    unreachable,
  }
}
