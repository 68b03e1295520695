import { exitCodes } from '../../contract/exit-codes.ts'
import type { TaskSubmission } from '../../contract/task.ts'
import { type Api, RefusedError } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import { askAgain, isHopeless } from './ask-again.ts'
import type { Rejection } from './outcome.ts'

/** A submission without an answer is given up after so long. */
export const submissionPatienceMs = 120_000

type Options = {
  readonly signal: AbortSignal
  readonly patienceMs: number
  readonly onPause: (error: NoAnswerError) => void
}

/**
 * Submits once, however often it has to ask: each try has the same key.
 * @returns the id of the task, or why there is none
 */
export async function submit(
  api: Pick<Api, 'submit'>,
  submission: TaskSubmission,
  key: string,
  { signal, patienceMs, onPause }: Options,
): Promise<string | Rejection> {
  const giveUpAt = performance.now() + patienceMs
  try {
    return await askAgain(() => api.submit(submission, key, signal), {
      giveUpAt: () => giveUpAt,
      signal,
      isFinal: isHopeless,
      onPause,
    })
  } catch (error) {
    if (error instanceof RefusedError) return rejectionOf(error, submission.app)
    if (!(error instanceof NoAnswerError)) throw error
    const exitCode = error.status === 429 ? exitCodes.rejected : exitCodes.unreachable
    return { kind: 'rejected', app: submission.app, exitCode, error: error.message }
  }
}

/** Of servers before 0.1 that send no `code`. */
const lockedWords = /^lockdown is active/

function rejectionOf({ status, body, message }: RefusedError, app: string): Rejection {
  const { code, until, reason, set_by } = body
  if (code === 'locked' || lockedWords.test(message))
    return { kind: 'rejected', app, exitCode: exitCodes.locked, error: message, lock: { until, reason, setBy: set_by } }
  const exitCode = status === 401 || status === 403 ? exitCodes.not_authorized : exitCodes.rejected
  return { kind: 'rejected', app, exitCode, error: message }
}
