import type { ConditionName, ConditionState } from '../../../../contract/conditions.ts'
import type { TaskEventData } from '../../../../contract/task-event.ts'
import { firstProgress } from '../../../../contract/text/render-diagnosis.ts'
import type { ObservedCondition, OperationResource } from '../../observed/observed-application.ts'
import type { RestartMemory } from './pod-restarts.ts'
import type { RefreshObservation } from './rollout-observation.ts'
import type { Baseline, WatchedTask } from './watched-task.ts'

/** Things that count only when they last. */
export type TrackedState =
  | 'complete'
  | 'degraded'
  | 'progressing'
  | 'comparison_error'
  | 'sync_failed'
  | 'gone'
  | 'idle_out_of_sync'
  | 'images_unmet'
  | 'awaiting_comparison'
  | 'refresh_pending'
  | 'awaiting_ancestry'
  | 'operating'

/** Since when each state lasts without a break. */
export type StateStartTimes = Readonly<Partial<Record<TrackedState, number>>>

/** A bad state of one Pod, as all reads of the tree since `sinceMs` had it. */
export type BadPodMemory = {
  readonly sinceMs: number
  readonly reads: number
}

/** What conditions need to know of the time before a snapshot. */
export type ApplicationMemory = {
  readonly baseline: Baseline | undefined
  /** From when on a refresh is due: acceptance, then our commit. */
  readonly refreshFromMs: number
  /** How many refreshes were answered since then. */
  readonly refreshAnswers: number
  /** The revision condition has been met since the commit. */
  readonly hasReached: boolean
  /** The change was witnessed, and no other tag has been applied since. */
  readonly wasWitnessed: boolean
  /** As the operations that were seen applied them. */
  readonly workloads: readonly OperationResource[]
  /** Start times of comparisons since the baseline, for a task that may not ask for one. */
  readonly comparisons: readonly number[]
  /** What was Degraded before the task came and still is, for the same reason. */
  readonly degradedBefore: readonly string[]
  /** By the uid of the Pod. */
  readonly restarts: RestartMemory
}

export type ConditionTimes = {
  readonly state: ConditionState
  readonly sinceMs: number
  /** When the rollout came to it and past it; only shown, never judged by. */
  readonly firstMetMs: number | undefined
}

/** What the judge must remember between two looks. */
export type RolloutMemory = ApplicationMemory & {
  readonly startedAtMs: number
  /** The task waits for the application to appear, so whatever it shows will be new. */
  readonly wasAbsent: boolean
  readonly since: StateStartTimes
  readonly conditionSince: ReadonlyMap<ConditionName, ConditionTimes>
  /** Which failed operation `since.sync_failed` speaks of. */
  readonly failedOperation: string | undefined
  /** Which errors `since.comparison_error` speaks of. */
  readonly errors: readonly ObservedCondition[]
  readonly badPods: ReadonlyMap<string, BadPodMemory>
  readonly judgedTreeAtMs: number | undefined
  /** The verdict that awaits a direct read. */
  readonly candidate: { readonly key: string; readonly sinceMs: number } | undefined
  readonly failedReads: number
  readonly countedReadAtMs: number | undefined
  readonly refreshAsks: number
  readonly refreshAskedAtMs: number | undefined
  /** The last refresh that was answered since `refreshFromMs`. */
  readonly answeredRefresh: RefreshObservation['answered']
  readonly reported: ReportedState
  readonly imageCheckNoted: boolean
}

/** What Argo CD shows of an application, in the order in which an event names it. */
export const shownParts = ['sync', 'operation', 'health', 'images'] as const
export type ShownPart = (typeof shownParts)[number]

/** What the timeline already says. */
export type ReportedState = Readonly<Record<ShownPart, string>> & {
  /** The same as values. */
  readonly shown: Readonly<Record<ShownPart, Readonly<TaskEventData>>>
  /** What makes a new event when it changes: what holds the task up, else the first condition that is not met. */
  readonly heldUpBy: string
  readonly unmet: string
  /** What makes only a new diagnosis when it changes, and the sentence as it was last saved. */
  readonly waiting: string
  readonly found: string
  readonly progress: string
  readonly uid: string
}

const nothingReported: ReportedState = {
  sync: '',
  health: '',
  operation: '',
  images: '',
  shown: { sync: {}, operation: {}, health: {}, images: {} },
  heldUpBy: '',
  unmet: '',
  waiting: '',
  found: '',
  progress: firstProgress,
  uid: '',
}

export function startMemory(
  baseline: Baseline | undefined,
  nowMs: number,
  conditionSince: RolloutMemory['conditionSince'] = new Map(),
): RolloutMemory {
  return {
    startedAtMs: nowMs,
    wasAbsent: baseline === undefined && conditionSince.get('alive')?.state === 'not_met',
    baseline,
    since: {},
    conditionSince,
    failedOperation: undefined,
    errors: [],
    badPods: new Map(),
    judgedTreeAtMs: undefined,
    candidate: undefined,
    failedReads: 0,
    countedReadAtMs: undefined,
    refreshFromMs: nowMs,
    refreshAsks: 0,
    refreshAskedAtMs: undefined,
    answeredRefresh: undefined,
    refreshAnswers: 0,
    hasReached: false,
    wasWitnessed: false,
    workloads: [],
    comparisons: [],
    degradedBefore: baseline?.degraded ?? [],
    restarts: new Map(),
    reported: nothingReported,
    imageCheckNoted: false,
  }
}

/** The times of the conditions, as an earlier owner of the task stored them. */
export function storedConditionSince({
  diagnosis,
  acceptedAtMs,
  createdSeconds,
}: Pick<WatchedTask, 'diagnosis' | 'acceptedAtMs' | 'createdSeconds'>): RolloutMemory['conditionSince'] {
  const conditions = diagnosis?.conditions ?? []
  const onClock = (seconds: number) => acceptedAtMs + (seconds - createdSeconds) * 1_000
  return new Map(
    conditions.map(({ name, state, since, first_met: met }) => [
      name,
      { state, sinceMs: onClock(since), firstMetMs: met === undefined ? undefined : onClock(met) },
    ]),
  )
}

/** Keeps the start of what goes on, forgets what ended, and starts what is new. */
export function continueSince(
  since: StateStartTimes,
  holding: ReadonlySet<TrackedState>,
  nowMs: number,
): StateStartTimes {
  const kept = [...holding].map((state) => [state, since[state] ?? nowMs] as const)
  return Object.fromEntries(kept)
}
