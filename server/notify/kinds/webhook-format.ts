import type { Post } from '../../http/outgoing/post.ts'
import { renderWebhookBody } from '../render/webhook-template.ts'
import type { FormatTarget } from '../targets/target.ts'
import { type Attempt, attemptOf, type LockMessage, type Message } from './attempt.ts'

/** Sends the body of WEBHOOK_FORMAT. Another status than the allowed ones is judged as for any receiver. */
export async function sendWebhookFormat(
  post: Post,
  { url, format, contentType, header, allowedCodes, allow_private: allowsPrivate }: FormatTarget,
  message: Message | LockMessage,
): Promise<Attempt> {
  if (message.event === 'lock_changed') return { kind: 'sent' } // no route leads here
  const { text: body, failure: warning } = renderWebhookBody(format, message.event, message.task)
  const headers = {
    'content-type': contentType,
    ...(header === undefined ? {} : { [header.name]: header.value }),
  }
  const posted = await post(url, { headers, body, allowsPrivate })
  if (posted.kind !== 'answered') return { ...attemptOf(posted), warning }
  if (allowedCodes.includes(posted.status)) return { kind: 'sent', warning }
  const attempt = attemptOf(posted)
  const error = `the receiver answered ${posted.status}, which WEBHOOK_ALLOWED_RESPONSE_CODES does not list`
  return attempt.kind === 'sent' ? { kind: 'dead', error, warning } : { ...attempt, warning }
}
