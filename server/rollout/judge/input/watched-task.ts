import type { Diagnosis } from '../../../../contract/diagnosis.ts'
import type { Image } from '../../../../contract/task.ts'
import type { Claim, Task } from '../../../deployments/task.ts'
import type { WriteBackOutcome } from '../../../write-back/plan/write-back-outcome.ts'
import { rolloutTimes } from './rollout-settings.ts'

/** What the application looked like when its task was first watched. Stored, because a new owner must judge by the same. */
export type Baseline = {
  readonly uid: string
  readonly version: number
  readonly revisions: readonly string[]
  readonly reconciledAtMs: number | undefined
  readonly images: readonly string[]
  /** The operation shown then. One that had not ended may well be the one that the task waits for. */
  readonly operation: { readonly startedAtMs: number | undefined; readonly isOver: boolean } | undefined
  /** Whether it was taken before a commit of ours was there to be seen. */
  readonly isBeforeCommit: boolean
  /** Resources that were Degraded then, and why. */
  readonly degraded?: readonly string[]
  /** Without a commit of ours: a refresh was answered with this version, so that the owner of the task need not request another. */
  readonly comparedVersion?: number
}

export type WatchedTask = {
  readonly id: string
  readonly app: string
  readonly author: string
  readonly project: string
  readonly images: readonly Image[]
  readonly mayWrite: boolean
  /** Whether the delivery controller may be asked to look at once. */
  readonly refresh: boolean
  readonly claim: Claim
  /** On the watcher's clock. */
  readonly deadlineMs: number
  /** Its time had passed before it came to this replica, so `deadlineMs` only leaves time for one look (decision 0013). */
  readonly isOverdue: boolean
  readonly baseline: Baseline | undefined
  /** Of an earlier owner: its conditions go on from when they began. */
  readonly diagnosis?: Diagnosis | undefined
  /** What the record already says, after a change of owner. */
  readonly writeBackOutcome: WriteBackOutcome | undefined
  /** Until when the application may be absent, on the watcher's clock; before the deadline, so that there is time to look. */
  readonly appearByMs: number
  /** When the task was accepted, on the watcher's clock. */
  readonly acceptedAtMs: number
  /** The same in Unix seconds, as its record says. */
  readonly createdSeconds: number
}

type CommonField = 'id' | 'app' | 'author' | 'project' | 'images' | 'mayWrite' | 'refresh'

type TaskToWatch = {
  readonly task: Pick<Task, CommonField | 'created' | 'timeoutSeconds' | 'waitForAppSeconds'> &
    Pick<WatchedTask, 'diagnosis'>
  readonly claim: Claim
  readonly remainingMs: number
  readonly baseline: object | undefined
}

/** A task as its new owner watches it. `claimedAtMs` is on the watcher's clock. */
export function watchedTaskOf(
  { task, claim, remainingMs, baseline }: TaskToWatch,
  claimedAtMs: number,
  writeBackOutcome: WriteBackOutcome | undefined,
): WatchedTask {
  const { id, app, author, project, images, mayWrite, refresh, diagnosis } = task
  const deadlineMs = claimedAtMs + (remainingMs > 0 ? remainingMs : rolloutTimes.overdueCheckMs)
  const acceptedAtMs = claimedAtMs + remainingMs - task.timeoutSeconds * 1000
  const lastLookMs = Math.max(acceptedAtMs, deadlineMs - rolloutTimes.beforeDeadlineMs)
  return {
    ...{ id, app, author, project, images, mayWrite, refresh, diagnosis, claim, writeBackOutcome },
    deadlineMs,
    appearByMs: Math.min(acceptedAtMs + task.waitForAppSeconds * 1000, lastLookMs),
    isOverdue: remainingMs <= 0,
    // Only the watcher stores one.
    baseline: baseline as Baseline | undefined,
    createdSeconds: task.created.getTime() / 1000,
    acceptedAtMs,
  }
}

/** Where a task's commit stands. */
export type WriteBackState =
  | { readonly kind: 'undecided' }
  /** Nothing will be committed. `note` is the first line of a later time-out, '' when nothing needs saying. */
  | {
      readonly kind: 'monitor'
      readonly why: 'not_managed' | 'no_credential' | 'no_alias' | 'overdue'
      readonly note: string
    }
  | { readonly kind: 'pending' }
  | { readonly kind: 'ended'; readonly outcome: WriteBackOutcome; readonly atMs: number }

/** What the application's annotations say about judging. */
export type RolloutAnnotations = {
  readonly fireAndForget: boolean
  readonly skipImageValidation: boolean
  readonly acceptSuspended: boolean | undefined
  readonly badPodGraceMs: number | undefined
  /** What write-back-target names; undefined: the override file. */
  readonly writeBackTarget?: { readonly kind: string }
  /** What was ignored, in words for the timeline. */
  readonly notes: readonly string[]
}
