import type { Post } from '../../http/outgoing/post.ts'
import { renderMattermost, renderMattermostFormat } from '../render/mattermost.ts'
import type { FormatPost } from '../targets/target.ts'
import { type Attempt, hasDetails, type LockMessage, type Message, noticeOfMessage } from './attempt.ts'
import { callMattermost, PostReference } from './mattermost.ts'

/** Posts what MATTERMOST_FORMAT makes of the start, and of the end as a reply in its thread. */
export async function sendMattermostFormat(
  post: Post,
  { format, mention_author: mentionsAuthor, ...target }: FormatPost,
  message: Message | LockMessage,
): Promise<Attempt> {
  const byDefault = renderMattermost(noticeOfMessage(message, false), mentionsAuthor)
  const own = hasDetails(message) ? byDefault.details : byDefault.message
  const { text, failure: warning } =
    format === undefined || message.event === 'lock_changed'
      ? { text: own, failure: undefined }
      : renderMattermostFormat(format, message.event, message.task, { mentionsAuthor, byDefault: own })
  const root = PostReference.safeParse(message.reference).data
  const thread = root === undefined ? {} : { root_id: root.id }
  const fields = { channel_id: target.channel, message: text, ...thread }
  const destination = { url: target.url, token: target.bearer, allowsPrivate: target.allow_private }
  const attempt = await callMattermost(post, destination, 'POST', 'posts', fields)
  return { ...attempt, reference: root ?? attempt.reference, warning }
}
