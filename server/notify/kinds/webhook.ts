import { createHmac } from 'node:crypto'
import type { Post } from '../../http/outgoing/post.ts'
import { type Attempt, attemptOf, type LockMessage, type Message } from './attempt.ts'

type Destination = { readonly url: string; readonly secrets: readonly string[]; readonly allowsPrivate: boolean }

/** Sends a signed body (https://github.com/standard-webhooks/standard-webhooks, version 1). */
export async function sendWebhook(
  post: Post,
  { url, secrets, allowsPrivate }: Destination,
  message: Message | LockMessage,
): Promise<Attempt> {
  const { id, nowSeconds } = message
  const timestamp = String(Math.floor(nowSeconds))
  const body = JSON.stringify({
    type: message.event === 'lock_changed' ? 'lock.changed' : `deployment.${message.event}`,
    timestamp: new Date(nowSeconds * 1_000).toISOString(),
    data: message.event === 'lock_changed' ? message.lock : message.task,
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
