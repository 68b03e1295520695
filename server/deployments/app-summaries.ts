import { type AppSummaries, summaryDays } from '../../contract/app-summary.ts'
import { HttpError } from '../http/request-errors.ts'

/** An older one is not served, nor kept. */
const keptMs = 10_000
/** Whoever asks about something older gets it, and has it renewed for the next one. */
const renewedAfterMs = 5_000
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
type Kept = { readonly begunMs: number; readonly summaries: AppSummaries }

/**
 * Keeps the summaries of two windows for ten seconds, so that however many pages ask, the history is read seldom, and reads
 * one window at a time, so that many windows keep PostgreSQL no busier than one. While `maxPending` are pending another one is
 * rejected, except that of the pages.
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
    const { begunMs } = summaries // the timer holds nothing that was dropped meanwhile
    setTimeout(() => kept.get(days)?.begunMs === begunMs && kept.delete(days), keptMs).unref()
  }
  const readNext = async (days: number): Promise<Kept> => {
    await last
    const begunMs = nowMs()
    const done = { begunMs, summaries: await read(days) }
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
      () => undefined, // thrown to whoever asked for it
    )
    return next
  }

  const hasRoom = (days: number) => pending.size < maxPending || pending.has(days) || days === pageDays

  return async (days: number): Promise<AppSummaries> => {
    const known = kept.get(days)
    const ageMs = known ? nowMs() - known.begunMs : Number.POSITIVE_INFINITY
    if (!known || ageMs > keptMs) {
      if (hasRoom(days)) return (await renewed(days)).summaries
      throw new HttpError(503, 'too many summaries are being read, try again later', {
        'Retry-After': String(retrySeconds),
      })
    }
    if (ageMs > renewedAfterMs && hasRoom(days)) {
      renewed(days).catch((error: unknown) => onError('renewing application summaries failed, retrying', error))
    }
    return known.summaries
  }
}
