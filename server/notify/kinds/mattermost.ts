import { z } from 'zod'
import type { Post } from '../http/post.ts'
import { renderMattermost } from '../render/mattermost.ts'
import { type Attempt, attemptOf, jsonOf, type Message } from './attempt.ts'

type Destination = {
  readonly url: string
  readonly token: string
  readonly channel: string
  readonly mentionsAuthor: boolean
  readonly allowsPrivate: boolean
  readonly logs: boolean
}

const Reference = z.object({ id: z.string().regex(/^\w+$/) })

/** Writes one post for a task, changes it with each further event, and adds the details to its thread at the end. */
export async function sendMattermost(post: Post, destination: Destination, message: Message): Promise<Attempt> {
  const { event, task, pageUrl } = message
  const { logs, mentionsAuthor, channel } = destination
  const rendered = renderMattermost(event, task, { pageUrl, logs, mentionsAuthor })
  const known = Reference.safeParse(message.reference).data
  const changed = known && (await call('PUT', `posts/${known.id}/patch`, { message: rendered.message }))
  const isGone = changed?.kind === 'dead' && changed.error.endsWith('404')
  const main =
    changed === undefined || isGone
      ? await call('POST', 'posts', { channel_id: channel, message: rendered.message })
      : changed
  const reference = Reference.safeParse(main.reference).data ?? known
  if (main.kind !== 'sent') return { ...main, reference }
  if (event === 'started' || reference === undefined) return { kind: 'sent', reference }
  const thread = { channel_id: channel, root_id: reference.id, message: rendered.details }
  return { ...(await call('POST', 'posts', thread)), reference }

  async function call(method: 'POST' | 'PUT', path: string, fields: object): Promise<Attempt> {
    const posted = await post(`${destination.url.replace(/\/$/, '')}/api/v4/${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${destination.token}` },
      body: JSON.stringify(fields),
      allowsPrivate: destination.allowsPrivate,
    })
    const attempt = attemptOf(posted)
    if (attempt.kind !== 'sent' || posted.kind !== 'answered') return attempt
    return { kind: 'sent', reference: Reference.safeParse(jsonOf(posted.text)).data }
  }
}
