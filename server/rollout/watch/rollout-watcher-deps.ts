import type { PodLog } from '../../../contract/task.ts'
import type { Clock } from '../../concurrency/clock.ts'
import type { RateLimiter } from '../../concurrency/rate-limiter.ts'
import type { TaskUpdate } from '../../deployments/own/save-progress.ts'
import type { Claim, TaskResult } from '../../deployments/task.ts'
import type { Ancestry } from '../../write-back/git/history/commit-history.ts'
import type { WriteBackDecision, WriteBackPlan, WriteBackTask } from '../../write-back/plan/plan-write-back.ts'
import type { RolloutSettings } from '../judge/input/rollout-settings.ts'
import type { RolloutAnnotations } from '../judge/input/watched-task.ts'
import type { ApplicationAddress, DeliveryController } from '../observed/delivery-controller.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import type { ObservedPod } from '../observed/observed-resources.ts'

/** Every answer `false` means that the claim is gone: another replica owns the task, and it is dropped silently. */
type TaskRecords = {
  saveProgress(claim: Claim, change: TaskUpdate['change'], events: TaskUpdate['events']): Promise<boolean>
  /** Also where it says that the claim is gone (`false`), the task is over for this watcher. */
  finish(claim: Claim, end: TaskResult, unsaved: TaskUpdate | undefined): Promise<unknown>
}

export type RolloutWatcherDeps = {
  readonly controller: DeliveryController
  readonly records: TaskRecords
  readonly clock: Clock
  /** What calls wait for that only explain, and those of tasks that were just taken over. */
  readonly limiter: RateLimiter
  readonly settings: RolloutSettings
  annotations(application: ObservedApplication): RolloutAnnotations
  /** What is kept of an application's annotations, and of the configuration, when a task first sees it. */
  factsAtFirstSight(
    app: string,
    application: ObservedApplication,
  ): Pick<TaskUpdate['change'], 'environment' | 'notify' | 'onFailure'>
  decideWriteBack(task: WriteBackTask, application: ObservedApplication): WriteBackDecision
  queueWriteBack(claim: Claim, plan: WriteBackPlan): Promise<boolean>
  ancestry(repository: string, commit: string, revision: string): Promise<Ancestry>
  overrideAt(plan: WriteBackPlan, revision: string): Promise<ReadonlyMap<string, string> | undefined>
  /** What a Pod that does not start wrote last; absent: not wanted. */
  readonly readPodLog?: ((address: ApplicationAddress, pod: ObservedPod) => Promise<PodLog | undefined>) | undefined
  /** `message` names the work that failed and is tried again; the task goes on. Never holds a secret. */
  onError(message: string, error: unknown, facts: { readonly task?: string; readonly action?: string }): void
  /** For metrics: how long a refresh took to be answered. */
  onRefreshAnswered?(app: string, durationMs: number): void
  /** For metrics: a task has ended deployed, so long after the last change of its application. */
  onDeployed?(sinceChangeMs: number): void
  /** For metrics: nothing is committed for a task of a managed application, because it came without a valid credential. */
  onUnvalidated?(app: string): void
}
