import type { FinalStatus } from '../../contract/task-status.ts'

/** No task has this id; answered 404. */
export class TaskNotFoundError extends Error {
  override readonly name = 'TaskNotFoundError'
  readonly id: string
  constructor(id: string) {
    super('task not found')
    this.id = id
  }
}

type ActiveLock = {
  readonly retryAfterSeconds: number | undefined
  readonly until: Date | null
  readonly reason: string | null
  readonly setBy: string | null
}

/** A deploy lock or a lockdown window refuses new tasks; answered 406, with Retry-After where the end is known. */
export class DeploymentsLockedError extends Error {
  override readonly name = 'DeploymentsLockedError'
  readonly lock: ActiveLock
  constructor(lock: ActiveLock) {
    super('lockdown is active, deployments are not accepted')
    this.lock = lock
  }

  /** For callers who may not read the details of the lock. */
  withoutDetails(): DeploymentsLockedError {
    return new DeploymentsLockedError({ ...this.lock, reason: null, setBy: null })
  }
}

/** A submission that the schema admits but the settings do not; answered 406. */
export class InvalidSubmissionError extends Error {
  override readonly name = 'InvalidSubmissionError'
}

/** The task has ended, so it cannot be cancelled; answered 409. */
export class TaskOverError extends Error {
  override readonly name = 'TaskOverError'
  readonly status: FinalStatus
  constructor(status: FinalStatus) {
    super(`the task has ended: ${status}`)
    this.status = status
  }
}

/** An Idempotency-Key that stands for another submission; answered 409. */
export class IdempotencyKeyUsedError extends Error {
  override readonly name = 'IdempotencyKeyUsedError'
  constructor() {
    super('Idempotency-Key: already used with a different body')
  }
}

/** There are as many unfinished tasks as there may be; answered 429. */
export class TooManyUnfinishedError extends Error {
  override readonly name = 'TooManyUnfinishedError'
  constructor(howMany: string) {
    super(`${howMany} are unfinished: try again when some have ended`)
  }
}

/** How long PostgreSQL may search for a list or a summary: with what is read then, an answer takes 2 s at most. */
export const readLimitMs = 1_800

/** A search or a summary that reads too much; answered 503, though trying again helps less than asking for less. */
export class ReadTimedOutError extends Error {
  override readonly name = 'ReadTimedOutError'
  constructor(what: string, less: string, options: ErrorOptions) {
    super(`${what} timed out after ${readLimitMs / 1000}s; use ${less}`, options)
  }
}
