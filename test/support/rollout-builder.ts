import type { RateLimiter } from '../../server/concurrency/rate-limiter.ts'
import type { WriteBackDecision, WriteBackPlan } from '../../server/gitops/plan/plan-write-back.ts'
import type { GateContext } from '../../server/rollout/judge/gates.ts'
import type { ObservedApplication } from '../../server/rollout/judge/observed-application.ts'
import { nothingRefreshed } from '../../server/rollout/judge/rollout-observation.ts'
import type { RolloutAnnotations, WatchedTask } from '../../server/rollout/judge/watched-task.ts'
import type { DeliveryController } from '../../server/rollout/watch/delivery-controller.ts'
import type { RolloutWatcherDeps } from '../../server/rollout/watch/rollout-watcher-deps.ts'
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
  mayWrite: true,
  refresh: true,
  claim: { taskId: id, owner: 'replica', fence: '1' },
  deadlineMs: 900_000,
  isOverdue: false,
  baseline: undefined,
  writeBackOutcome: undefined,
  acceptedAtMs: 0,
  ...fields,
})

/** The decision to commit a plan for `shop` in which only the given fields matter. */
export const aWriteDecision = (fields: Partial<WriteBackPlan> = {}): WriteBackDecision => ({
  kind: 'write',
  plan: {
    app: 'shop',
    repository: 'https://git.example/shop.git',
    branch: 'main',
    file: '.argocd-source-shop.yaml',
    parameters: [{ name: 'image.tag', value: 'v2', image: 'registry.example/shop' }],
    sourceParameters: [],
    message: 'shop: update image tag',
    ...fields,
  },
  warnings: [],
})

/** Nothing may be asked of it but the applications themselves. */
export const refusedDiagnosis: Pick<
  DeliveryController,
  'readResourceTree' | 'readManagedResources' | 'readSyncWindows' | 'readPodEvents'
> = {
  readResourceTree: async () => ({ kind: 'refused' }),
  readManagedResources: async () => ({ kind: 'refused' }),
  readSyncWindows: async () => ({ kind: 'refused' }),
  readPodEvents: async () => ({ kind: 'refused' }),
}

const unlimited: RateLimiter = {
  spend() {},
  take: async () => {},
  enter: (start) => queueMicrotask(() => void start()),
}

/** What a watcher of unmanaged applications needs besides a controller and a clock; whatever fails fails the test. */
export const rolloutDeps: Omit<RolloutWatcherDeps, 'controller' | 'clock'> = {
  settings: defaultRolloutSettings,
  limiter: unlimited,
  linkBase: 'https://cd.example/',
  annotations: () => noAnnotations,
  decideWriteBack: () => ({ kind: 'monitor', why: 'not_managed', note: '' }),
  queueWriteBack: async () => true,
  relation: async () => 'unknown',
  overrideAt: async () => undefined,
  records: { saveProgress: async () => true, finish: async () => true },
  onError: (_message, error) => {
    throw error
  },
}

/** What the gates look at, of a task for the image `shop:v2` of which nothing else is known. */
export const aGateContext = (application: ObservedApplication, fields: Partial<GateContext> = {}): GateContext => ({
  application,
  unchangedSinceVersion: application.version,
  wanted: [{ image: 'registry.example/shop', tag: 'v2' }],
  commit: undefined,
  baseline: undefined,
  uid: application.uid,
  mayRefresh: true,
  refreshFromMs: 0,
  refresh: nothingRefreshed,
  isChangeOverdue: false,
  hasReached: false,
  comparisons: [],
  observation: { relations: new Map(), tree: undefined, managed: undefined },
  acceptSuspended: false,
  settings: defaultRolloutSettings,
  ...fields,
})
