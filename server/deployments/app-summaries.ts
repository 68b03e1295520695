import { type AppSummaries, summaryDays } from '../../contract/app-summary.ts'
import { HttpError } from '../http/request-errors.ts'

/** One is kept for five times as long as its reading took: however many ask, PostgreSQL reads for a sixth of the time. */
const keptTimes = 5
const maxKeptMs = 10_000
/** The one that the pages ask for, and one more. */
const maxKept = 2
/** Windows that are read or wait for it, each for up to 1.8 s. */
const maxPending = 3
const retrySeconds = 5
const pageDays = summaryDays({})

type Dependencies = {
  readonly read: (days: number) => Promise<AppSummaries>
  readonly nowMs: () => number
  readonly onError: (message: string, error: unknown) => void
}
type Kept = { readonly begunMs: number; readonly keptMs: number; readonly summaries: AppSummaries }

/**
 * Keeps the summaries of two windows for up to ten seconds, so that however many pages ask, the history is read seldom, and
 * reads one window at a time, so that many windows keep PostgreSQL no busier than one. A request in the second half of that
 * time has them renewed for the next one. While `maxPending` are pending another one is rejected, except that of the pages.
 * @throws {HttpError} 503
 */
export function createAppSummaries({ read, nowMs, onError }: Dependencies) {
  const kept = new Map<number, Kept>()
  const pending = new Map<number, Promise<Kept>>()
  let last: Promise<void> = Promise.resolve()

  const keep = (days: number, summaries: Kept) => {
    kept.delete(days)
    const [oldest] = kept.keys()
    if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest)
    kept.set(days, summaries)
    const { begunMs, keptMs } = summaries // the timer holds nothing that was dropped meanwhile
    setTimeout(() => kept.get(days)?.begunMs === begunMs && kept.delete(days), keptMs).unref()
  }
  const readNext = async (days: number): Promise<Kept> => {
    await last
    const begunMs = nowMs()
    const summaries = await read(days)
    const keptMs = Math.min(maxKeptMs, keptTimes * (nowMs() - begunMs))
    const done = { begunMs, keptMs, summaries }
    keep(days, done)
    return done
  }
  const renewed = (days: number): Promise<Kept> => {
    const current = pending.get(days)
    if (current) return current
    const next = readNext(days).finally(() => pending.delete(days))
    pending.set(days, next)
    last = next.then(
      () => undefined,
      () => undefined, // thrown to the caller
    )
    return next
  }

  const hasRoom = (days: number) => pending.size < maxPending || pending.has(days) || days === pageDays

  return async (days: number): Promise<AppSummaries> => {
    const known = kept.get(days)
    const ageMs = known ? nowMs() - known.begunMs : Number.POSITIVE_INFINITY
    if (!known || ageMs > known.keptMs) {
      if (hasRoom(days)) return (await renewed(days)).summaries
      throw new HttpError(503, 'too many summaries are being read, try again later', {
        'Retry-After': String(retrySeconds),
      })
    }
    if (ageMs > known.keptMs / 2 && hasRoom(days)) {
      renewed(days).catch((error: unknown) => onError('renewing application summaries failed, retrying', error))
    }
    return known.summaries
  }
}
