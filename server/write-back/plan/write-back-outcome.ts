import type { Cause } from '../../../contract/causes.ts'

/**
 * What became of a task's write-back. `landed` and `unchanged` name the commit the rollout must reach: the task's own, or the
 * head of the branch where the file had the tags already.
 */
export type WriteBackOutcome =
  | {
      readonly kind: 'landed' | 'unchanged'
      readonly commit: string
      readonly repository: string
      readonly branch: string
    }
  /** Will not succeed by itself: the task ends `failed` with this cause and reason. */
  | { readonly kind: 'refused'; readonly cause: Cause; readonly reason: string }
  /** The task was superseded or cancelled before its push. */
  | { readonly kind: 'dropped' }

/** The task fails at once, before any commit. */
export type RejectedWriteBack = Extract<WriteBackOutcome, { kind: 'refused' }>

export function refused(cause: Cause, reason: string): RejectedWriteBack {
  return { kind: 'refused', cause, reason }
}
