import { setTimeout as delay } from 'node:timers/promises'

/** serialization_failure, deadlock_detected: the transaction was rolled back, and may well succeed now. */
const conflictCodes = /^(?:40001|40P01)$/
const retries = 5
const maxPauseMs = 100

/** Does `work`, one transaction, again when it lost against another one; five times at most, after a random pause. */
export async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await work()
    } catch (error) {
      if (retry >= retries || !isConflict(error)) throw error
      await delay(Math.random() * maxPauseMs)
    }
  }
}

const isConflict = (error: unknown) =>
  error instanceof Error && 'code' in error && conflictCodes.test(String(error.code))
