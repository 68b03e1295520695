import type { ApplicationReference } from '../../../contract/application-name.ts'
import type { PodLog } from '../../../contract/task.ts'
import type { Clock } from '../../concurrency/clock.ts'
import { createThrottle } from '../../concurrency/throttle.ts'
import type { Ancestry } from '../../gitops/git/commit-history.ts'
import type { WriteBackPlan } from '../../gitops/plan/plan-write-back.ts'
import { type KnownApplication, nothingKnown } from '../judge/newest-snapshots.ts'
import type { ObservedApplication } from '../judge/observed-application.ts'
import type {
  LivePod,
  ManagedResources,
  ResourceEvent,
  ResourceTree,
  SyncWindows,
} from '../judge/observed-resources.ts'
import type { RolloutMemory } from '../judge/rollout-memory.ts'
import {
  type DirectRead,
  type NextAction,
  nothingRefreshed,
  type Reading,
  type RefreshObservation,
  type RolloutObservation,
} from '../judge/rollout-observation.ts'
import type { Baseline, RolloutAnnotations, WatchedTask, WriteBackState } from '../judge/watched-task.ts'
import type { ApplicationAddress } from './delivery-controller.ts'
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
  readonly ancestries: Map<string, { readonly ancestry: Ancestry; readonly atMs: number }>
  known: KnownApplication
  /** When `known` last got a newer snapshot. */
  changedAtMs: number | undefined
  refresh: RefreshObservation
  directRead: DirectRead | undefined
  lastListAtMs: number | undefined
  tree: Reading<ResourceTree> | undefined
  managed: Reading<ManagedResources> | undefined
  windows: Reading<SyncWindows> | undefined
  /** By the uid of the resource. */
  readonly events: Map<string, Reading<readonly ResourceEvent[]>>
  readonly livePods: Map<string, Reading<LivePod>>
  /** Of the Pod with this uid. */
  podLog: { readonly uid: string; readonly log: PodLog } | undefined
}

/**
 * Tasks of one application come, land and end close together: their calls are this far apart, so that each serves several,
 * and a reading of one snapshot waits until it has stood this long.
 */
export const briefMs = 200
const afterFailureMs = 5_000

export function watchedApplication(
  app: string,
  reference: ApplicationReference,
  clock: Pick<Clock, 'nowMs'>,
): WatchedApplication {
  return {
    app,
    reference,
    tasks: new Map(),
    throttle: createThrottle({ nowMs: clock.nowMs, minIntervalMs: briefMs, afterFailureMs }),
    queued: new Set(),
    ancestries: new Map(),
    known: nothingKnown,
    changedAtMs: undefined,
    refresh: nothingRefreshed,
    directRead: undefined,
    lastListAtMs: undefined,
    tree: undefined,
    managed: undefined,
    windows: undefined,
    events: new Map(),
    livePods: new Map(),
    podLog: undefined,
  }
}

export const hasCommitsOnTheirWay = ({ tasks }: Pick<WatchedApplication, 'tasks'>) =>
  [...tasks.values()].some(({ writeBack, isOver }) => writeBack.kind === 'pending' && !isOver)

/** With the project, once it is known, a missing application is told from a forbidden one. */
export function addressOf({ reference, known }: WatchedApplication): ApplicationAddress {
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

export function observationOf(
  application: WatchedApplication,
  state: TaskState,
  annotations: (application: ObservedApplication) => RolloutAnnotations,
  unreachable: RolloutObservation['unreachable'],
): RolloutObservation {
  const { known, refresh, directRead, lastListAtMs, ancestries, tree, managed, windows } = application
  return {
    known,
    annotations: known.newest === undefined ? noAnnotations : annotations(known.newest),
    writeBack: state.writeBack,
    refresh,
    directRead,
    lastListAtMs,
    ancestries,
    overrides: state.overrides,
    tree,
    managed,
    windows,
    events: application.events,
    livePods: application.livePods,
    unreachable,
  }
}
