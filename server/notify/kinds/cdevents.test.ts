import { expect, test } from 'vitest'
import type { TaskRecord } from '../../../contract/task.ts'
import type { Post } from '../../http/outgoing/post.ts'
import { exampleTask } from '../render/example-tasks.ts'
import type { Message } from './attempt.ts'
import { sendCdEvents } from './cdevents.ts'

type Sent = { readonly headers: Readonly<Record<string, string>>; readonly event: unknown }

/** A receiver that answers with these statuses, one after another. */
function receiver(...statuses: readonly number[]) {
  const sent: Sent[] = []
  const post: Post = async (_url, { headers, body }) => {
    sent.push({ headers, event: JSON.parse(body ?? '') })
    return { kind: 'answered', status: statuses[sent.length - 1] ?? 200, text: '', retryAfterMs: undefined }
  }
  return { sent, post }
}

const destination = { url: 'https://events.example', authorization: undefined, allowsPrivate: false }
const messageOf = (fields: Partial<TaskRecord>, reference: object | null = null): Message => ({
  id: '1',
  event: 'succeeded',
  task: exampleTask(fields),
  readTrace: async () => ({ traceparent: undefined, events: [] }),
  pageUrl: '',
  reference,
  attempts: 1,
  nowSeconds: 0,
})
const images = ['api', 'web', 'worker'].map((name) => ({ image: `registry.example/shop/${name}`, tag: '1.2.0' }))

test('a further attempt begins with the image that was not taken', async () => {
  const first = receiver(200, 503)
  const attempt = await sendCdEvents(first.post, destination, messageOf({ images }))
  expect(attempt).toMatchObject({ kind: 'retry', reference: { taken: 1 } })
  const second = receiver()
  expect(await sendCdEvents(second.post, destination, messageOf({ images }, attempt.reference))).toEqual({
    kind: 'sent',
  })
  const ids = [first, second].map(({ sent }) => sent.map(({ headers }) => headers['ce-id']?.split('/')[1]))
  expect(ids).toEqual([
    ['1', '2'],
    ['2', '3'],
  ])
})

test.for([
  ['registry.example/Shop/API', '1.2.0', 'pkg:oci/api?repository_url=registry.example/Shop/API&tag=1.2.0'],
  ['nginx', '1 & 2', 'pkg:oci/nginx?repository_url=docker.io/library/nginx&tag=1%20%26%202'],
  ['localhost:5000/shop', 'v1', 'pkg:oci/shop?repository_url=localhost%3A5000/shop&tag=v1'],
] as const)('the purl of %s:%s is %s', async ([image, tag, purl]) => {
  const { sent, post } = receiver()
  await sendCdEvents(post, destination, messageOf({ images: [{ image, tag }] }))
  expect(sent).toMatchObject([{ event: { subject: { content: { artifactId: purl } } } }])
})

test.for([
  [{ previous: undefined }, 'deployed'],
  [{}, 'upgraded'],
  [{ is_rollback: true }, 'rolledback'],
] as const)('%j is %s', async ([fields, predicate]) => {
  const { sent, post } = receiver()
  await sendCdEvents(post, destination, messageOf(fields as Partial<TaskRecord>))
  expect(sent).toMatchObject([{ headers: { 'ce-type': `dev.cdevents.service.${predicate}.0.3.0` } }])
})

test('a task without an environment names its application, in headers without characters that HTTP has not', async () => {
  const { sent, post } = receiver()
  await sendCdEvents(post, destination, messageOf({ app: 'Größe "1"', environment: undefined } as never))
  expect(sent).toMatchObject([
    {
      headers: { 'ce-subject': 'Gr%C3%B6%C3%9Fe%20%221%22', 'ce-source': '/deployment-watcher' },
      event: { subject: { id: 'Größe "1"', content: { environment: { id: 'Größe "1"' } } } },
    },
  ])
})

test.for(['failed', 'aborted', 'cancelled', 'in progress', 'app not found'] as const)(
  'nothing is sent of a task that is %s',
  async (status) => {
    const { sent, post } = receiver()
    expect(await sendCdEvents(post, destination, messageOf({ status }))).toEqual({ kind: 'skipped' })
    expect(sent).toEqual([])
  },
)
