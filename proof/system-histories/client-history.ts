import type { TaskRecord } from '../../contract/task.ts'
import type { Credential } from './plan-history.ts'

/** `info`: no answer, or one that leaves open whether it happened. */
export type Outcome = 'ok' | 'fail' | 'info'

export type Operation = {
  readonly kind: 'submit' | 'read' | 'cancel' | 'list' | 'lock' | 'unlock'
  readonly replica: number
  readonly atMs: number
  readonly endedMs: number
  readonly outcome: Outcome
  readonly status: number | undefined
  readonly text: string
  readonly submitted?: Submitted
  /** Of the task that was accepted, read or cancelled. */
  readonly taskId?: string
  readonly seen?: TaskRecord
  readonly credential?: Credential
  /** Tells one setting of the lock from another. */
  readonly reason?: string
}

export type Submitted = {
  readonly app: string
  readonly tag: string
  readonly author: string
  readonly timeout: number
  readonly credential: Credential
  /** Idempotency-Key */
  readonly key: string | undefined
}

/** What a request may have done, by its answer. A refused connection did nothing; a 503 may hide a lost answer. */
export function outcomeOf(status: number | undefined, error: unknown): Outcome {
  if (status === undefined) return isRefused(error) ? 'fail' : 'info'
  if (status < 300) return 'ok'
  return status < 500 ? 'fail' : 'info'
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
