import { z } from 'zod'
import { createPace } from '../../http/outgoing/pace.ts'
import { jsonOf, type Post } from '../../http/outgoing/post.ts'
import { renderSlack } from '../render/slack.ts'
import { type Attempt, attemptOf, hasDetails, type LockMessage, type Message, noticeOfMessage } from './attempt.ts'

type Destination = {
  readonly url: string
  readonly token: string
  readonly channel: string
  readonly allowsPrivate: boolean
  readonly logs: boolean
}

const Answer = z.looseObject({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  ts: z.string().optional(),
})
const Reference = z.object({ channel: z.string(), ts: z.string() })
type Reference = z.infer<typeof Reference>

/** Slack takes a message a second for each channel. */
const pace = createPace(1_100)

/** Answers that another attempt may change (https://docs.slack.dev/reference/methods/chat.postMessage). */
const passing: ReadonlySet<string> = new Set([
  ...['ratelimited', 'rate_limited', 'internal_error', 'fatal_error', 'request_timeout', 'service_unavailable'],
  'team_added_to_org',
])

/** Posts one message for a task or a change of the lock, changes it with each further event, and writes the details into its thread at the end. */
export async function sendSlack(
  post: Post,
  destination: Destination,
  message: Message | LockMessage,
): Promise<Attempt> {
  const { logs, channel } = destination
  const rendered = renderSlack(noticeOfMessage(message, logs))
  const known = Reference.safeParse(message.reference).data
  const changed = known && (await call('chat.update', { ...known, ...rendered.message }))
  const isGone = changed?.kind === 'dead' && changed.error.endsWith('message_not_found')
  const main =
    changed === undefined || isGone ? await call('chat.postMessage', { channel, ...rendered.message }) : changed
  const reference = (main.kind === 'sent' ? (main.reference as Reference | undefined) : undefined) ?? known
  if (main.kind !== 'sent') return { ...main, reference }
  if (!hasDetails(message) || reference === undefined) return { kind: 'sent', reference }
  const thread = { channel: reference.channel, thread_ts: reference.ts }
  return { ...(await call('chat.postMessage', { ...thread, ...rendered.details })), reference }

  async function call(name: string, fields: object): Promise<Attempt> {
    await pace(`${destination.url} ${channel}`)
    const quiet = { unfurl_links: false, unfurl_media: false, link_names: false, parse: 'none' }
    const posted = await post(`${destination.url.replace(/\/$/, '')}/${name}`, {
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${destination.token}` },
      body: JSON.stringify({ ...quiet, ...fields }),
      allowsPrivate: destination.allowsPrivate,
    })
    const attempt = attemptOf(posted)
    if (attempt.kind !== 'sent' || posted.kind !== 'answered') return attempt
    const answer = Answer.safeParse(jsonOf(posted.text)).data
    if (answer === undefined) return { kind: 'retry', error: 'Slack answered no JSON' }
    if (answer.ok) return { kind: 'sent', reference: Reference.safeParse(answer).data }
    const error = `Slack answered ${answer.error ?? 'no reason'}`
    return passing.has(answer.error ?? '')
      ? { kind: 'retry', error, afterMs: posted.retryAfterMs }
      : { kind: 'dead', error }
  }
}
