import { NoResultError } from 'kysely'
import { DatabaseError } from 'pg'

/** The database answers, but not what the lock is, so no task is accepted; answered 503. */
export class DeployLockUnreadableError extends Error {
  override readonly name = 'DeployLockUnreadableError'
  constructor(options: ErrorOptions) {
    super('the deploy lock cannot be read, so no task is accepted', options)
  }
}

/** No right to the table, no such table, column or row type; and what a function says of a row that is missing. */
const unreadable = new Set(['42501', '42P01', '42703', '42704', 'P0002'])

/** What reading the lock's row failed with, as a {@link DeployLockUnreadableError} where that is what it means. */
export const lockErrorOf = (error: unknown): unknown =>
  error instanceof NoResultError || (error instanceof DatabaseError && unreadable.has(error.code ?? ''))
    ? new DeployLockUnreadableError({ cause: error })
    : error
