import type { Interval } from './lockdown-times.ts'

/** Whether tasks are refused cannot be said, so none is accepted; answered 503. */
export class DeployLockUnknownError extends Error {
  override readonly name = 'DeployLockUnknownError'
  constructor(at: Date, known: Interval) {
    super(
      `the deploy lock is unknown: the database says it is ${at.toISOString()}, this replica knows the lockdown windows ` +
        `from ${known.from.toISOString()} to ${known.to.toISOString()}; set the clocks right`,
    )
  }
}
