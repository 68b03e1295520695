import { createHmac } from 'node:crypto'
import type { TaskRecord } from '../../../contract/task.ts'
import type { Post, Posted } from '../http/post.ts'
import type { NotificationEvent } from '../targets/target.ts'

/** What came of an attempt. `retry`: it may go well later. */
export type Attempt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'retry'; readonly error: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'dead'; readonly error: string }

type Message = {
  /** The same over all attempts. */
  readonly id: string
  readonly event: NotificationEvent
  readonly task: TaskRecord
  /** Of the attempt. */
  readonly nowSeconds: number
}

type Destination = { readonly url: string; readonly secrets: readonly string[]; readonly allowsPrivate: boolean }

/** Sends a signed body (https://github.com/standard-webhooks/standard-webhooks, version 1). */
export async function sendWebhook(
  post: Post,
  { url, secrets, allowsPrivate }: Destination,
  message: Message,
): Promise<Attempt> {
  const { id, event, task, nowSeconds } = message
  const timestamp = String(Math.floor(nowSeconds))
  const body = JSON.stringify({
    type: `deployment.${event}`,
    timestamp: new Date(nowSeconds * 1_000).toISOString(),
    data: task,
  })
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(`${id}.${timestamp}.${body}`, secret)}`).join(' '),
  }
  return attemptOf(await post(url, { headers, body, allowsPrivate }))
}

/** `whsec_` and the key in base64; a secret of another form is the key itself. */
function signatureOf(text: string, secret: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  return createHmac('sha256', key).update(text).digest('base64')
}

/** Rules for all kinds: what a receiver rejects for good is not sent again. */
function attemptOf(posted: Posted): Attempt {
  if (posted.kind === 'refused') return { kind: 'dead', error: posted.error }
  if (posted.kind === 'unanswered') return { kind: 'retry', error: posted.error }
  const { status, retryAfterMs } = posted
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const error = `the receiver answered ${status}`
  if (status >= 500 || [408, 425, 429].includes(status)) return { kind: 'retry', error, afterMs: retryAfterMs }
  return { kind: 'dead', error }
}
