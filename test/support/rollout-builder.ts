import type { RateLimiter } from '../../server/concurrency/rate-limiter.ts'
import { updateWorkloads } from '../../server/rollout/judge/conditions/applied-images.ts'
import type { JudgeInput } from '../../server/rollout/judge/input/judge-input.ts'
import { nothingRefreshed, type RolloutObservation } from '../../server/rollout/judge/input/rollout-observation.ts'
import type { RolloutSettings } from '../../server/rollout/judge/input/rollout-settings.ts'
import type { Baseline, RolloutAnnotations, WatchedTask } from '../../server/rollout/judge/input/watched-task.ts'
import type { DeliveryController } from '../../server/rollout/observed/delivery-controller.ts'
import { nothingKnown } from '../../server/rollout/observed/newest-snapshots.ts'
import type { ObservedApplication } from '../../server/rollout/observed/observed-application.ts'
import type { RolloutWatcherDeps } from '../../server/rollout/watch/rollout-watcher-deps.ts'
import type { WriteBackDecision, WriteBackPlan } from '../../server/write-back/plan/plan-write-back.ts'
import { defaultRolloutSettings } from './rollout-settings.ts'

export const noAnnotations: RolloutAnnotations = {
  notes: [],
  fireAndForget: false,
  skipImageValidation: false,
  acceptSuspended: undefined,
  badPodGraceMs: undefined,
}

/** A task of ada's for the application `shop` in which only the given fields matter. */
export const aWatchedTask = (id: string, fields: Partial<WatchedTask> = {}): WatchedTask => ({
  id,
  app: 'shop',
  images: [{ image: 'registry.example/shop', tag: 'v2' }],
  author: 'ada',
  project: 'shop',
  mayWrite: true,
  refresh: true,
  claim: { taskId: id, owner: 'replica', fence: '1' },
  deadlineMs: 900_000,
  isOverdue: false,
  baseline: undefined,
  writeBackOutcome: undefined,
  acceptedAtMs: 0,
  appearByMs: 0,
  createdSeconds: 1_700_000_000,
  ...fields,
})

/** The decision to commit a plan for `shop` in which only the given fields matter. */
export const aWriteDecision = (fields: Partial<WriteBackPlan> = {}): WriteBackDecision => ({
  kind: 'write',
  plan: {
    app: 'shop',
    repository: 'https://git.example/shop.git',
    address: 'https://git.example/shop.git',
    branch: 'main',
    file: '.argocd-source-shop.yaml',
    tool: 'helm',
    entries: [{ name: 'image.tag', value: 'v2', image: 'registry.example/shop' }],
    sourceEntries: [],
    message: 'shop: update image tag',
    ...fields,
  },
  warnings: [],
})

/** Nothing may be asked of it but the applications themselves. */
export const forbiddenDiagnosis: Pick<
  DeliveryController,
  'readResourceTree' | 'readManagedResources' | 'readSyncWindows' | 'readEvents' | 'readLivePod'
> = {
  readResourceTree: async () => ({ kind: 'forbidden' }),
  readManagedResources: async () => ({ kind: 'forbidden' }),
  readSyncWindows: async () => ({ kind: 'forbidden' }),
  readEvents: async () => ({ kind: 'forbidden' }),
  readLivePod: async () => ({ kind: 'forbidden' }),
}

const unlimited: RateLimiter = {
  enter: (start) => queueMicrotask(() => void start()),
}

/** What a watcher of unmanaged applications needs besides a controller and a clock; whatever fails fails the test. */
export const rolloutDeps: Omit<RolloutWatcherDeps, 'controller' | 'clock'> = {
  settings: defaultRolloutSettings,
  limiter: unlimited,
  annotations: () => noAnnotations,
  factsAtFirstSight: () => ({}),
  decideWriteBack: () => ({ kind: 'monitor', why: 'not_managed', note: '' }),
  queueWriteBack: async () => true,
  ancestry: async () => 'unknown',
  overrideAt: async () => undefined,
  records: { saveProgress: async () => true, finish: async () => true },
  onError: (_message, error) => {
    throw error
  },
}

/** What is known where nothing but an application was read, and the given. */
export const anObservation = (
  application: ObservedApplication | undefined,
  fields: Partial<RolloutObservation> = {},
): RolloutObservation => ({
  known: { ...nothingKnown, newest: application },
  annotations: noAnnotations,
  writeBack: { kind: 'monitor', why: 'not_managed', note: '' },
  refresh: nothingRefreshed,
  directRead: undefined,
  lastListAtMs: undefined,
  ancestries: new Map(),
  overrides: new Map(),
  tree: undefined,
  managed: undefined,
  windows: undefined,
  events: new Map(),
  livePods: new Map(),
  unreachable: undefined,
  ...fields,
})

type Known = {
  readonly task?: Partial<WatchedTask>
  readonly commit?: JudgeInput['commit']
  readonly baseline?: Baseline
  readonly observation?: Partial<RolloutObservation>
  readonly settings?: Partial<RolloutSettings>
  readonly nowMs?: number
}

/** A snapshot of a task for the image `shop:v2` of which nothing but the given is known. */
export const aSnapshot = (application: ObservedApplication, known: Known = {}): JudgeInput => ({
  task: aWatchedTask('1', known.task),
  settings: { ...defaultRolloutSettings, ...known.settings },
  observation: anObservation(application, known.observation),
  nowMs: known.nowMs ?? 0,
  application,
  commit: known.commit,
  baseline: known.baseline,
  refreshFromMs: 0,
  refreshAnswers: 0,
  hasReached: false,
  wasWitnessed: false,
  workloads: updateWorkloads([], application),
  comparisons: [],
  degradedBefore: [],
  restarts: new Map(),
})
