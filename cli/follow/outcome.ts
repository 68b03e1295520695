import type { TaskRecord } from '../../contract/task.ts'

/** No task came of a submission, or it may not be followed. */
export type Rejection = {
  readonly kind: 'rejected'
  readonly app: string
  /** Where the task exists. */
  readonly id?: string
  readonly exitCode: number
  readonly error: string
  /** What to do about it, on a line of its own. */
  readonly advice?: string
  readonly lock?: { until: number | undefined; reason: string | undefined; setBy: string | undefined }
}

/** The task has no verdict that this run could learn. `isGone`: the service does not know it. */
export type GivenUp = {
  readonly kind: 'gave_up'
  readonly id: string
  readonly task: TaskRecord | undefined
  readonly why: string
  readonly isGone: boolean
}

/** What became of a deployment, as far as this run knows. */
export type Outcome =
  | Rejection
  | { readonly kind: 'ended'; readonly task: TaskRecord }
  | GivenUp
  | { readonly kind: 'submitted'; readonly id: string; readonly app: string }
  /** Without an id it may have been submitted. */
  | { readonly kind: 'interrupted'; readonly id?: string; readonly app: string }
