import type { Cause } from '../../contract/causes.ts'
import type { ConditionName } from '../../contract/conditions.ts'
import type { Diagnosis } from '../../contract/diagnosis.ts'
import type { Submitter } from '../../contract/notify/submitter.ts'
import type { Image, PodLog, TaskSubmission } from '../../contract/task.ts'
import type { FinalStatus, TaskStatus } from '../../contract/task-status.ts'
import type { Actor } from '../audit/record-action.ts'

/** A deployment task as the service knows it. Times are the database's. */
export type Task = {
  readonly id: string
  readonly created: Date
  readonly updated: Date
  readonly deadline: Date
  readonly app: string
  readonly author: string
  readonly project: string
  readonly environment: string | undefined
  readonly images: readonly Image[]
  readonly timeoutSeconds: number
  /** How long the application may take to appear; 0: it has to be there. */
  readonly waitForAppSeconds: number
  readonly refresh: boolean
  readonly source: TaskSubmission['source']
  /** A valid credential came with the submission: its tag may be committed. Never shown to a caller. */
  readonly mayWrite: boolean
  /** Of the credentials that submitted it, where reading is closed. Never shown. */
  readonly readerDigests: readonly Buffer[]
  readonly status: TaskStatus
  readonly statusReason: string | undefined
  readonly cause: Cause | undefined
  readonly headline: string | undefined
  readonly progress: string | undefined
  readonly unmetCondition: ConditionName | undefined
  /** Not read of tasks in lists. */
  readonly diagnosis: Diagnosis | undefined
  readonly appUrl: string | undefined
  readonly isRollback: boolean
  readonly rollbackTargetId: string | undefined
  /** The failed task whose commit it takes back. */
  readonly rollbackOf: string | undefined
  readonly commit: string | undefined
  readonly repository: string | undefined
  readonly branch: string | undefined
  /** Read of tasks in lists only. */
  readonly previous: DeployedTask | undefined
}

/** Another task of the application. `ended`: Unix seconds. */
export type DeployedTask = { readonly id: string; readonly images: readonly Image[]; readonly ended: number }

type Pipeline = { readonly issuer: string; readonly subject: string; readonly runUrl: string | undefined }

/** A task that was accepted but is not stored yet. */
export type NewTask = Pick<TaskSubmission, 'app' | 'author' | 'project' | 'images' | 'source'> & {
  readonly environment: string | undefined
  readonly id: string
  readonly timeoutSeconds: number
  readonly waitForAppSeconds: number
  readonly refresh: boolean
  readonly mayWrite: boolean
  /** The task that it returns to, as the submission names it. */
  readonly rollbackTargetId: string | undefined
  /** What follows its failure; undefined: the application or ON_FAILURE decides. */
  readonly onFailure: 'rollback' | 'none' | undefined
  readonly submittedBy: Actor
  /** The job of a CI that submits it, by its ID token. */
  readonly pipeline: Pipeline | undefined
  /** Undefined without a credential. */
  readonly submitter: Submitter | undefined
  readonly readerDigest: Buffer | undefined
  /** The span of its pipeline, by W3C Trace Context. */
  readonly traceparent: string | undefined
}

/** Names the owner's hold on a task. Every write of an owner carries it; a write that matches no row means the task was taken. */
export type Claim = { readonly taskId: string; readonly owner: string; readonly fence: string }

/** Of the owner that a task was accepted with; each later owner adds one. */
export const firstFence = '1'

/** Whether another replica, or an earlier life of this one, owned the task before. */
export const hasEarlierOwner = ({ fence }: Pick<Claim, 'fence'>): boolean => fence !== firstFence

/** How a task ends. */
export type TaskResult = {
  readonly status: FinalStatus
  readonly cause?: Cause
  /** The diagnosis as a text, a line each. */
  readonly reason?: string
  readonly diagnosis?: Diagnosis
  /** What the Pod to blame wrote last. Kept apart, because not everybody who may read the reason may read it. */
  readonly podLog?: PodLog
}
