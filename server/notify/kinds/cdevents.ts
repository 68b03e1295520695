import { repositoryOf } from '../../../contract/image-name.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { Post } from '../../http/outgoing/post.ts'
import { type Attempt, attemptOf, type LockMessage, type Message } from './attempt.ts'

type Destination = {
  readonly url: string
  readonly authorization: string | undefined
  readonly allowsPrivate: boolean
}

/** Another replica may send what has been claimed for longer than 45 s, and a request takes 10 s at most. */
const maxSendingMs = 25_000
const specVersion = '0.5.0'
const eventVersion = '0.3.0'

/**
 * Sends a CDEvent (https://cdevents.dev, version 0.5) for each image of a task that ended deployed, as CloudEvents in binary
 * mode, one after another. A further attempt goes on after those that were taken.
 */
export async function sendCdEvents(
  post: Post,
  { url, authorization, allowsPrivate }: Destination,
  message: Message | LockMessage,
): Promise<Attempt> {
  if (message.event === 'lock_changed' || message.task.status !== 'deployed') return { kind: 'skipped' }
  const events = cdEventsOf(message.task, message.pageUrl)
  const taken = message.reference !== null && 'taken' in message.reference ? Number(message.reference.taken) : 0
  const started = performance.now()
  for (const [index, event] of events.entries()) {
    if (index < taken) continue
    const reference = { taken: index }
    if (performance.now() - started > maxSendingMs)
      return { kind: 'retry', error: `${index} of ${events.length} events were sent in time`, reference }
    const headers = { ...cloudEventHeaders(event), ...(authorization !== undefined && { authorization }) }
    const attempt = attemptOf(await post(url, { headers, body: JSON.stringify(event), allowsPrivate }))
    if (attempt.kind !== 'sent') return { ...attempt, reference }
  }
  return { kind: 'sent' }
}

type CdEvent = ReturnType<typeof cdEventsOf>[number]

/** One event for each image; those of a repeated attempt are the same. */
function cdEventsOf(task: TaskRecord, pageUrl: string) {
  const predicate = task.is_rollback ? 'rolledback' : task.previous === undefined ? 'deployed' : 'upgraded'
  return task.images.map((image, index) => ({
    context: {
      specversion: specVersion,
      id: `${task.id}/${index + 1}`,
      source: pageUrl === '' ? '/deployment-watcher' : new URL('/', pageUrl).href,
      type: `dev.cdevents.service.${predicate}.${eventVersion}`,
      timestamp: new Date(task.updated * 1_000).toISOString(),
    },
    subject: {
      id: task.app,
      content: { environment: { id: task.environment ?? task.app }, artifactId: purlOf(image) },
    },
    customData: { task: task.id, ...(pageUrl !== '' && { url: pageUrl }) },
    customDataContentType: 'application/json',
  }))
}

/** `pkg:oci/shop?repository_url=registry.example/team/shop&tag=v1` (https://github.com/package-url/purl-spec). */
function purlOf({ image, tag }: TaskRecord['images'][number]): string {
  const repository = repositoryOf(image)
  const name = repository.slice(repository.lastIndexOf('/') + 1)
  return `pkg:oci/${encoded(name.toLowerCase())}?repository_url=${encoded(repository)}&tag=${encoded(tag)}`
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/')

/** https://github.com/cloudevents/spec, HTTP binding: the body is the data, the attributes are headers. */
function cloudEventHeaders({ context, subject }: CdEvent) {
  return {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': context.id,
    'ce-source': context.source,
    'ce-type': context.type,
    'ce-time': context.timestamp,
    'ce-subject': headerValue(subject.id),
  }
}

/** What is no printable ASCII, and blank, quote and per cent, as the binding asks for. */
const headerValue = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character))
