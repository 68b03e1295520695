import type { LockChange } from '../../../contract/notify/lock-change.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import type { NotificationEvent } from '../../../contract/text/notification-text.ts'
import type { Posted } from '../../http/outgoing/post.ts'
import { type Notice, noticeOf, noticeOfLock } from '../render/notice.ts'

/** What came of an attempt. `retry`: it may go well later. `reference`: of the message, also where only its thread failed. */
export type Attempt = {
  readonly reference?: object | undefined
  /** Why the format of the target gave no text, and the default one was sent. */
  readonly warning?: Error | undefined
} & (
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'retry'
      readonly error: string
      readonly afterMs?: number | undefined
      /** Until a person changes something. */
      readonly isBlocked?: boolean
    }
  | { readonly kind: 'dead'; readonly error: string }
  /** The target has no place for it, so nothing was sent. `why`: where users may ask for it. */
  | { readonly kind: 'skipped'; readonly why?: string }
  /** The target wants nothing more. */
  | { readonly kind: 'off'; readonly error: string }
)

/** A notification of the deploy lock, as a change left it. */
export type LockMessage = {
  readonly id: string
  readonly event: 'lock_changed'
  readonly lock: LockChange
  /** The overview; empty without PUBLIC_URL. */
  readonly pageUrl: string
  /** What an earlier attempt left. */
  readonly reference: object | null
  readonly nowSeconds: number
}

/** What a trace of a task is made of, beside its record. */
export type TaskTrace = {
  /** The span of the pipeline that submitted it, valid by W3C Trace Context. */
  readonly traceparent: string | undefined
  readonly events: readonly TaskEvent[]
}

/** A notification of a task. */
export type Message = {
  /** The same over all attempts. */
  readonly id: string
  readonly event: NotificationEvent
  readonly task: TaskRecord
  readonly readTrace: () => Promise<TaskTrace>
  /** The page of the task; empty without PUBLIC_URL. */
  readonly pageUrl: string
  /** What an earlier attempt or event of the task left. */
  readonly reference: object | null
  /** This one included. */
  readonly attempts: number
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
  return { kind: status === 410 ? 'off' : 'dead', error }
}

/** What a message for people says. */
export const noticeOfMessage = (message: Message | LockMessage, logs: boolean): Notice =>
  message.event === 'lock_changed'
    ? noticeOfLock(message.lock, message.pageUrl)
    : noticeOf(message.event, message.task, { pageUrl: message.pageUrl, logs })

/** Only the end of a task has more to say than its message. */
export const hasDetails = ({ event }: Message | LockMessage): boolean => event !== 'started' && event !== 'lock_changed'
