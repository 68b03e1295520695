import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TaskRecord } from '../../contract/task.ts'
import type { TaskEvent } from '../../contract/task-event.ts'

/** A service whose one task failed, with this text in every field that holds one. */
export async function startHostileService(text: string) {
  const id = randomUUID()
  const [created, updated] = [1_795_420_800, 1_795_420_831]
  const images = [{ image: text, tag: text }]
  const task = {
    id,
    created,
    updated,
    app: text,
    author: text,
    project: text,
    environment: text,
    images,
    status: 'failed',
    status_reason: text,
    cause: text,
    headline: text,
    commit: text,
    repository: text,
    branch: text,
    previous: { id, images: [{ image: text, tag: `before ${text}` }], ended: created },
    similar_apps: [text, text],
    unmet_condition: 'healthy',
    diagnosis: {
      conditions: [
        { name: 'revision', state: 'met', since: created, first_met: created + 1 },
        { name: 'healthy', state: 'not_met', since: created, expected: text, found: text },
      ],
      cause: text,
      headline: text,
      culprit: { kind: text, namespace: text, name: text, container: text, message: `message ${text}`, reason: text },
      impact: { old_pods_ready: 1, old_pods: 2 },
      evidence: [{ kind: 'note', text }],
      next_steps: [{ actor: text, text }],
      links: [
        { kind: text, url: `javascript:${text}` },
        { kind: text, url: `https://argocd.example/${text}` },
      ],
    },
    pod_log: { pod: text, lines: text.split('\n') },
  } as unknown as TaskRecord
  const data = { cause: text, branch: text, commit: text, health: text, sync: text, operation: text }
  const events = ['commit_pushed', 'write_back_skipped', 'sync_changed', 'waiting_for', text].map(
    (kind, index) => ({ id: index + 1, task_id: id, at: created + index, kind, detail: text, data }) as TaskEvent,
  )
  let reads = 0
  const server = createServer((request, response) => {
    request.resume()
    const { method, url = '' } = request
    if (url.endsWith('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.end(events.map((event) => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    }
    response.writeHead(method === 'POST' ? 202 : 200, { 'content-type': 'application/json' })
    if (method === 'POST') return void response.end(JSON.stringify({ id, status: 'accepted' }))
    reads += 1 // it is followed by its events, then read once more
    response.end(JSON.stringify(reads === 1 ? { ...task, status: 'in progress' } : task))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
