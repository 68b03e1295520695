import type { Post } from '../../http/outgoing/post.ts'
import { renderTeams } from '../render/teams.ts'
import { type MessageTarget, type SecretReference, wantsLogs } from '../targets/target.ts'
import { type Attempt, attemptOf, type LockMessage, type Message, noticeOfMessage } from './attempt.ts'
import { sendCdEvents } from './cdevents.ts'
import { sendDevlake } from './devlake.ts'
import { sendMattermost } from './mattermost.ts'
import { sendMattermostFormat } from './mattermost-format.ts'
import { sendTrace } from './otlp.ts'
import { sendSlack } from './slack.ts'
import { sendWebhook } from './webhook.ts'
import { sendWebhookFormat } from './webhook-format.ts'

type Read = (reference: SecretReference) => { readonly secret: string } | { readonly issue: string }

class MissingSecretError extends Error {}

/** Sends a message the way its target wants it. A secret that is not there now is waited for. */
export async function send(
  post: Post,
  target: MessageTarget,
  message: Message | LockMessage,
  read: Read,
): Promise<Attempt> {
  const textOf = (value: string | SecretReference): string => {
    if (typeof value === 'string') return value
    const found = read(value)
    if ('issue' in found) throw new MissingSecretError(found.issue)
    return found.secret
  }
  const optional = (reference: SecretReference | undefined) => reference && textOf(reference)
  const { allow_private: allowsPrivate } = target
  const logs = wantsLogs(target)
  try {
    const url = textOf(target.url)
    switch (target.kind) {
      case 'webhook': {
        const secrets = textOf(target.secret).split(/\s+/)
        return await sendWebhook(post, { url, secrets, allowsPrivate }, message)
      }
      case 'slack': {
        const { channel } = target
        return await sendSlack(post, { url, token: textOf(target.token), channel, allowsPrivate, logs }, message)
      }
      case 'mattermost': {
        const { channel, mention_author: mentionsAuthor } = target
        const token = textOf(target.token)
        return await sendMattermost(post, { url, token, channel, mentionsAuthor, allowsPrivate, logs }, message)
      }
      case 'webhook_format':
        return await sendWebhookFormat(post, target, message)
      case 'mattermost_format':
        return await sendMattermostFormat(post, target, message)
      case 'devlake': {
        const { environments } = target
        return await sendDevlake(post, { url, token: textOf(target.token), environments, allowsPrivate }, message)
      }
      case 'cdevents':
        return await sendCdEvents(post, { url, authorization: optional(target.authorization), allowsPrivate }, message)
      case 'otlp':
        return await sendTrace(post, { url, authorization: optional(target.authorization), allowsPrivate }, message)
      case 'teams':
        return await sendTeams(url)
    }
  } catch (error) {
    if (error instanceof MissingSecretError) return { kind: 'retry', error: error.message }
    throw error
  }

  /** A card cannot be changed, so there is one, at the end. */
  async function sendTeams(url: string): Promise<Attempt> {
    if (message.event === 'started') return { kind: 'sent' }
    const body = JSON.stringify(renderTeams(noticeOfMessage(message, logs)))
    return attemptOf(await post(url, { headers: { 'content-type': 'application/json' }, body, allowsPrivate }))
  }
}
