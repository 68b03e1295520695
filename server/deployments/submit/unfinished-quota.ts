import { singleFlight } from '../../concurrency/single-flight.ts'
import { TooManyUnfinishedError } from '../task-errors.ts'

/** Unfinished tasks of all applications. */
export type UnfinishedCount = { readonly all: number; readonly withCredential: number }

type Dependencies = {
  readonly read: () => Promise<UnfinishedCount>
  /** MAX_UNFINISHED_TASKS */
  readonly maxUnfinished: number
  readonly nowMs: () => number
  readonly onError: (error: unknown) => void
}

const freshMs = 1_000

/**
 * Limits how many tasks are unfinished. They are counted once a second at most, with what this replica has accepted since;
 * once more before one is rejected. What is accepted during a count may be missed until the next one. Tasks without a
 * credential take no room from those with one (decision 0009).
 */
export function createUnfinishedQuota({ read, maxUnfinished, nowMs, onError }: Dependencies) {
  let counted: { all: number; withCredential: number; readonly atMs: number } | undefined
  const recount = singleFlight(async () => {
    const atMs = nowMs()
    counted = { ...(await read()), atMs }
    return counted
  })

  /** @throws {TooManyUnfinishedError} */
  return async (hasCredential: boolean): Promise<void> => {
    const which = hasCredential ? 'withCredential' : 'all'
    let counts = counted ?? (await recount())
    if (nowMs() - counts.atMs > freshMs) recount().catch(onError)
    if (counts[which] >= maxUnfinished) counts = await recount()
    if (counts[which] >= maxUnfinished) throw new TooManyUnfinishedError(`${maxUnfinished} tasks`)
    counts.all += 1
    if (hasCredential) counts.withCredential += 1
  }
}
export type UnfinishedQuota = ReturnType<typeof createUnfinishedQuota>
