import { z } from 'zod'
import { jsonOf, type Post } from '../../http/outgoing/post.ts'
import { renderMattermost } from '../render/mattermost.ts'
import { type Attempt, attemptOf, hasDetails, type LockMessage, type Message, noticeOfMessage } from './attempt.ts'

type Server = { readonly url: string; readonly token: string; readonly allowsPrivate: boolean }
type Destination = Server & {
  readonly channel: string
  readonly mentionsAuthor: boolean
  readonly logs: boolean
}

export const PostReference = z.object({ id: z.string().regex(/^\w+$/) })

/** Writes one post for a task or a change of the lock, changes it with each further event, and adds the details to its thread at the end. */
export async function sendMattermost(
  post: Post,
  destination: Destination,
  message: Message | LockMessage,
): Promise<Attempt> {
  const { logs, mentionsAuthor, channel } = destination
  const rendered = renderMattermost(noticeOfMessage(message, logs), mentionsAuthor)
  const known = PostReference.safeParse(message.reference).data
  const changed =
    known && (await callMattermost(post, destination, 'PUT', `posts/${known.id}/patch`, { message: rendered.message }))
  const isGone = changed?.kind === 'dead' && changed.error.endsWith('404')
  const main =
    changed === undefined || isGone
      ? await callMattermost(post, destination, 'POST', 'posts', { channel_id: channel, message: rendered.message })
      : changed
  const reference = PostReference.safeParse(main.reference).data ?? known
  if (main.kind !== 'sent') return { ...main, reference }
  if (!hasDetails(message) || reference === undefined) return { kind: 'sent', reference }
  const thread = { channel_id: channel, root_id: reference.id, message: rendered.details }
  return { ...(await callMattermost(post, destination, 'POST', 'posts', thread)), reference }
}

/** `reference`: of the post that was made or changed. */
export async function callMattermost(
  post: Post,
  { url, token, allowsPrivate }: Server,
  method: 'POST' | 'PUT',
  path: string,
  fields: object,
): Promise<Attempt> {
  const posted = await post(`${url.replace(/\/$/, '')}/api/v4/${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(fields),
    allowsPrivate,
  })
  const attempt = attemptOf(posted)
  if (attempt.kind !== 'sent' || posted.kind !== 'answered') return attempt
  return { kind: 'sent', reference: PostReference.safeParse(jsonOf(posted.text)).data }
}
