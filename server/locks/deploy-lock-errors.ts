import { NoResultError } from 'kysely'
import { DatabaseError } from 'pg'
import type { Interval } from './lockdown-times.ts'

/** Whether tasks are refused cannot be said, so none is accepted; answered 503. */
export class DeployLockUnknownError extends Error {
  override readonly name = 'DeployLockUnknownError'
  constructor(at: Date, known: Interval) {
    super(
      `the deploy lock is unknown: the database says it is ${at.toISOString()}, this replica knows the lockdown windows ` +
        `from ${known.from.toISOString()} to ${known.to.toISOString()}; synchronize the clocks`,
    )
  }
}

/** The database answers, but not what the lock is, so no task is accepted; answered 503. */
export class DeployLockUnreadableError extends Error {
  override readonly name = 'DeployLockUnreadableError'
  constructor(options: ErrorOptions) {
    super('the deploy lock cannot be read, so no task is accepted', options)
  }
}

/** No right to the table, no such table, column or row type. */
const unreadable = new Set(['42501', '42P01', '42703', '42704'])

/** What reading the lock's row failed with, as a {@link DeployLockUnreadableError} where that is what it means. */
export const lockErrorOf = (error: unknown): unknown =>
  error instanceof NoResultError || (error instanceof DatabaseError && unreadable.has(error.code ?? ''))
    ? new DeployLockUnreadableError({ cause: error })
    : error
