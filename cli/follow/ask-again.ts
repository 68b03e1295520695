import { setTimeout as delay } from 'node:timers/promises'
import { NoAnswerError } from '../http/connection-errors.ts'

const firstPauseMs = 2_000
const longestPauseMs = 15_000

/** How long to wait before the next try: 2 s doubling to 15 s, or what the server asks for. */
function createBackoff() {
  let nextMs = firstPauseMs
  return {
    pauseMs(error?: unknown): number {
      const pauseMs = nextMs
      nextMs = Math.min(nextMs * 2, longestPauseMs)
      return (error instanceof NoAnswerError ? error.retryAfterMs : undefined) ?? pauseMs
    },
    reset(): void {
      nextMs = firstPauseMs
    },
  }
}

/** What is not the service answers the first request, and goes on being it. */
export const isHopeless = ({ isPermanent, status = 500 }: NoAnswerError): boolean =>
  isPermanent || (status < 500 && status !== 429)

type Options = {
  /** By `performance.now()`; it may move while it is asked. */
  readonly giveUpAt: () => number
  readonly signal: AbortSignal
  /** An error that is final although asking again might help. */
  readonly isFinal?: (error: NoAnswerError) => boolean
  readonly onPause?: (error: NoAnswerError) => void
}

/**
 * Asks until there is an answer, a refusal, or no time left.
 * @throws the last failure, or the reason of `signal`
 */
export async function askAgain<Result>(
  ask: () => Promise<Result>,
  { giveUpAt, signal, isFinal = () => false, onPause = () => {} }: Options,
): Promise<Result> {
  const backoff = createBackoff()
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof NoAnswerError) || isFinal(error)) throw error
      const leftMs = giveUpAt() - performance.now()
      if (leftMs <= 0) throw error
      onPause(error)
      await delay(Math.min(backoff.pauseMs(error), leftMs), undefined, { signal })
    }
  }
}
