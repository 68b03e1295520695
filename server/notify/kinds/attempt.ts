import type { TaskRecord } from '../../../contract/task.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import type { Posted } from '../http/post.ts'

/** What came of an attempt. `retry`: it may go well later. `reference`: of the message, also where only its thread failed. */
export type Attempt = { readonly reference?: object | undefined } & (
  | { readonly kind: 'sent' }
  | { readonly kind: 'retry'; readonly error: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'dead'; readonly error: string }
)

export type Message = {
  /** The same over all attempts. */
  readonly id: string
  readonly event: NotificationEvent
  readonly task: TaskRecord
  /** The page of the task; empty without PUBLIC_URL. */
  readonly pageUrl: string
  /** What an earlier attempt or event of the task left. */
  readonly reference: object | null
  /** Of the attempt. */
  readonly nowSeconds: number
}

/** Rules for all kinds: what a receiver rejects for good is not sent again. */
export function attemptOf(posted: Posted): Attempt {
  if (posted.kind === 'refused') return { kind: 'dead', error: posted.error }
  if (posted.kind === 'unanswered') return { kind: 'retry', error: posted.error }
  const { status, retryAfterMs } = posted
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const error = `the receiver answered ${status}`
  if (status >= 500 || [408, 425, 429].includes(status)) return { kind: 'retry', error, afterMs: retryAfterMs }
  return { kind: 'dead', error }
}

/** What a receiver answered; undefined where it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
