import type { PodLog } from '../../contract/task.ts'
import { createActionThrottle } from './action-throttle.ts'
import type { ApplicationReference } from './application-reference.ts'
import type { CallLine } from './call-turns.ts'
import type { ApplicationAddress, Clock } from './delivery-controller.ts'
import { type KnownApplication, nothingKnown } from './newest-snapshots.ts'
import type { ObservedApplication } from './observed-application.ts'
import type { ManagedResources, ResourceTree, SyncWindows } from './observed-resources.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import {
  type DirectRead,
  nothingRefreshed,
  type PodEvents,
  type Reading,
  type RefreshObservation,
  type Relation,
  type RolloutObservation,
} from './rollout-observation.ts'
import type { createTaskWrites } from './task-writes.ts'
import type { Baseline, RolloutAnnotations, WatchedTask, WriteBackState } from './watched-task.ts'

/** What the watcher holds of one task. */
export type TaskState<Plan> = {
  readonly task: WatchedTask
  readonly overrides: Map<string, ReadonlyMap<string, string> | undefined>
  readonly writes: ReturnType<typeof createTaskWrites>
  memory: RolloutMemory
  savedBaseline: Baseline | undefined
  writeBack: WriteBackState
  plan: Plan | undefined
  progress: string
  hasAppUrl: boolean
  isOver: boolean
  /** When the timer that `cancelTimer` ends looks again. */
  lookAtMs: number
  cancelTimer: () => void
}

/** What the watcher holds of one application, shared by all tasks that wait for it. */
export type WatchedApplication<Plan> = {
  readonly app: string
  readonly reference: ApplicationReference
  readonly tasks: Map<string, TaskState<Plan>>
  readonly inFlight: Set<string>
  readonly throttle: ReturnType<typeof createActionThrottle>
  readonly relations: Map<string, { readonly relation: Relation; readonly atMs: number }>
  known: KnownApplication
  /** When `known` last got a newer snapshot. */
  changedAtMs: number | undefined
  refresh: RefreshObservation
  /** Since when a refresh waits for commits that are on their way. */
  refreshHeldSinceMs: number | undefined
  directRead: DirectRead | undefined
  lastListAtMs: number | undefined
  /** When the next call of each line may be made. */
  readonly callTurns: Map<CallLine, number>
  tree: Reading<ResourceTree> | undefined
  managed: Reading<ManagedResources> | undefined
  windows: Reading<SyncWindows> | undefined
  podEvents: Reading<PodEvents> | undefined
  /** Of the Pod with this uid. */
  podLog: { readonly uid: string; readonly log: PodLog } | undefined
}

export function watchedApplication<Plan>(
  app: string,
  reference: ApplicationReference,
  clock: Pick<Clock, 'nowMs'>,
): WatchedApplication<Plan> {
  return {
    app,
    reference,
    tasks: new Map(),
    inFlight: new Set(),
    throttle: createActionThrottle(clock),
    relations: new Map(),
    known: nothingKnown,
    changedAtMs: undefined,
    refresh: nothingRefreshed,
    refreshHeldSinceMs: undefined,
    directRead: undefined,
    lastListAtMs: undefined,
    callTurns: new Map(),
    tree: undefined,
    managed: undefined,
    windows: undefined,
    podEvents: undefined,
    podLog: undefined,
  }
}

/** With the project, once it is known, a missing application is told from a forbidden one. */
export function addressOf({ reference, known }: WatchedApplication<unknown>): ApplicationAddress {
  const project = known.newest?.project
  return { ...reference, project: project === '' ? undefined : project }
}

const noAnnotations: RolloutAnnotations = {
  notes: [],
  fireAndForget: false,
  skipImageValidation: false,
  acceptSuspended: undefined,
  badPodGraceMs: undefined,
}

export function observationOf<Plan>(
  application: WatchedApplication<Plan>,
  state: TaskState<Plan>,
  annotations: (application: ObservedApplication) => RolloutAnnotations,
  unreachable: RolloutObservation['unreachable'],
): RolloutObservation {
  const { known, refresh, directRead, lastListAtMs, relations, tree, managed, windows, podEvents } = application
  return {
    known,
    annotations: known.newest === undefined ? noAnnotations : annotations(known.newest),
    writeBack: state.writeBack,
    refresh,
    directRead,
    lastListAtMs,
    relations,
    overrides: state.overrides,
    tree,
    managed,
    windows,
    podEvents,
    unreachable,
  }
}
