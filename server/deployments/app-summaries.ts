import type { AppSummaries } from '../../contract/app-summary.ts'

/** Whoever asks about something older waits for a new look. */
const oldestServedMs = 10_000
/** Whoever asks about something older gets it, and has it renewed for the next one. */
const renewedAfterMs = 5_000

type Dependencies = {
  readonly read: (days: number) => Promise<AppSummaries>
  readonly nowMs: () => number
  readonly onTrouble: (error: unknown) => void
}
type Look = { readonly begunMs: number; readonly summaries: AppSummaries }

/** Keeps the summaries of this replica for ten seconds, so that however many pages ask, the history is read seldom. */
export function createAppSummaries({ read, nowMs, onTrouble }: Dependencies) {
  const looks = new Map<number, Look>()
  const running = new Map<number, Promise<Look>>()

  const look = async (days: number): Promise<Look> => {
    const begunMs = nowMs()
    try {
      const done = { begunMs, summaries: await read(days) }
      looks.set(days, done)
      return done
    } finally {
      running.delete(days)
    }
  }
  const renewed = (days: number): Promise<Look> => {
    const current = running.get(days) ?? look(days)
    running.set(days, current)
    return current
  }

  return async (days: number): Promise<AppSummaries> => {
    const known = looks.get(days)
    const ageMs = known ? nowMs() - known.begunMs : Number.POSITIVE_INFINITY
    if (!known || ageMs > oldestServedMs) return (await renewed(days)).summaries
    if (ageMs > renewedAfterMs) renewed(days).catch(onTrouble)
    return known.summaries
  }
}
