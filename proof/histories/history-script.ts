import type { ControllerVersion } from '../../simulator/model/controller-context.ts'
import type { PodBehaviour } from '../../simulator/model/pod-behaviours.ts'

export const shapes = [
  'deployment',
  'two-deployments',
  'stateful-set',
  'on-delete',
  'daemon-set',
  'cron-job',
  'cron-job-by-hand',
  'scaled-to-zero',
  'pre-sync-job',
  'post-sync-job',
  'pinned-beside-a-hook',
  'waves',
  'custom-resource',
  'paused-rollout',
] as const
export type Shape = (typeof shapes)[number]

/** How the controller and its cluster are. Times are milliseconds. */
export type ControllerScript = {
  readonly version: ControllerVersion
  readonly replicas: number
  readonly staleLiveCache: number
  readonly podReadyMs: number
  readonly terminationMs: number
  readonly progressDeadlineMs: number
  readonly latePullMs: number
  readonly customResourceLagMs: number
  readonly informerLagMs: number
  readonly burstGapMs: number
}

export type ApplicationScript = {
  readonly shape: Shape
  readonly isMultiSource: boolean
  readonly sync: 'automated' | 'without-self-heal' | 'manual'
  readonly retryLimit: number
  /** The annotation manifest-generate-paths leaves the override file out. */
  readonly hasNarrowPaths: boolean
  readonly isManaged: boolean
  readonly start: 'settled' | 'empty' | 'missing'
}

export type TaskScript = {
  readonly app: number
  readonly atMs: number
  readonly tag: string
  /** `what there is`: the worker's image too where the application has one. */
  readonly wants: 'main' | 'both' | 'what there is'
  readonly hasCredential: boolean
  readonly mayRefresh: boolean
  readonly windowMs: number
  readonly supersedes: boolean
  /** From the decision to the push. */
  readonly pushDelayMs: number
  readonly push: 'lands' | 'is refused'
  /** When somebody else commits the wanted tag, counted from acceptance. */
  readonly rivalAfterMs: number | undefined
}

/** What people and clusters do meanwhile. */
export type Happening = { readonly app: number; readonly atMs: number } & (
  | { readonly kind: 'rival-tag' | 'rival-worker-tag' | 'edit-live'; readonly tag: string }
  | { readonly kind: 'rival-change' | 'sync-by-hand' | 'webhook' | 'terminate' | 'promote' | 'abort' | 'run-cron-job' }
  | { readonly kind: 'delete-live' }
  | { readonly kind: 'delete'; readonly backAfterMs: number | undefined }
  | { readonly kind: 'pods-behave'; readonly behaviour: PodBehaviour; readonly forMs: number }
  | { readonly kind: 'sync-fails' | 'repository-error' | 'broken-override' | 'window-closed'; readonly forMs: number }
)

export const callKinds = ['get', 'refresh', 'list', 'tree', 'managed', 'windows', 'stream', 'probe'] as const
export type CallKind = (typeof callKinds)[number]

/** What goes wrong between the service and everything else, for a while. */
export type Fault = { readonly fromMs: number; readonly forMs: number } & (
  | {
      readonly kind: 'refuse-calls'
      readonly outcome: 'forbidden' | 'unauthorized' | 'unreachable'
      readonly calls: readonly CallKind[]
      /** Of ten calls, this many. */
      readonly often: number
    }
  | { readonly kind: 'slow-calls'; readonly delayMs: number }
  | { readonly kind: 'cut-stream'; readonly how: 'clean' | 'error' | 'in-a-line' }
  | { readonly kind: 'stall-stream' }
  | { readonly kind: 'hold-replica'; readonly replica: number; readonly release: 'events' | 'relist' }
  | { readonly kind: 'lose-events' | 'duplicate-events'; readonly count: number }
  | { readonly kind: 'drop-refresh' }
  | { readonly kind: 'hang-refresh'; readonly app: number }
  | { readonly kind: 'git-steps-back' }
  | { readonly kind: 'history-unknown' }
  | { readonly kind: 'records-down' }
  | { readonly kind: 'skew-clock'; readonly byMs: number }
  | { readonly kind: 'take-over' }
  /** No replica of the service is there meanwhile. */
  | { readonly kind: 'restart' }
)

/** How the service is set. */
type WatcherScript = { readonly isStrict: boolean }

/** One history, all of it: run twice, it comes out the same. Times count from its start. */
export type HistoryScript = {
  readonly seed: number
  readonly controller: ControllerScript
  readonly watcher: WatcherScript
  readonly applications: readonly ApplicationScript[]
  readonly tasks: readonly TaskScript[]
  readonly happenings: readonly Happening[]
  readonly faults: readonly Fault[]
}
