import { AnswerError } from './read-json.ts'

const maxRetries = 5
const usualDelaySeconds = 1

/** A read that was one too many for its address is asked again, when the service says so; nothing else is. */
export const retryTooMany = {
  retry: (failures: number, error: Error): boolean =>
    error instanceof AnswerError && error.status === 429 && failures < maxRetries,
  /** Milliseconds. */
  retryDelay(_failures: number, error: Error): number {
    const retryAt = error instanceof AnswerError ? error.retryAt : undefined
    const seconds = retryAt === undefined ? usualDelaySeconds : retryAt - Date.now() / 1_000
    return Math.max(0, seconds) * 1_000
  },
}
