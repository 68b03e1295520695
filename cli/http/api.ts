import type { DeployLockDetails } from '../../contract/deploy-lock.ts'
import type { TaskRecord, TaskSubmission } from '../../contract/task.ts'
import type { TaskEvent } from '../../contract/task-event.ts'
import { isFinal, type TaskStatus } from '../../contract/task-status.ts'
import { connectionErrorOf, NoAnswerError, refusalOf } from './connection-errors.ts'
import { readEventStream } from './event-stream.ts'
import type { Http, HttpAnswer, HttpRequest } from './http.ts'

/** The service refuses the request; asking again would not help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  readonly body: Refusal
  constructor(status: number, body: Refusal) {
    super(body.error ?? body.status ?? `the server returned ${status}`)
    this.status = status
    this.body = body
  }
}

/** The body of a refusal; `code` and what follows tell of a lock. */
type Refusal = {
  readonly error?: string
  readonly status?: string
  readonly id?: string
  readonly code?: string
  readonly until?: number
  readonly reason?: string
  readonly set_by?: string
}

export type TaskWithClock = {
  readonly task: TaskRecord /** By the server's clock, Unix seconds. */
  readonly now: number
}
export type Api = ReturnType<typeof createApi>

const callLimitMs = 30_000
/** Many proxies cut a request after 60 s. */
const waitSeconds = 50

type Options = {
  readonly http: Http
  /** Proves who asks; asked for at each request. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  /** Span of the pipeline, by W3C Trace Context; the service ignores an invalid one. */
  readonly traceparent?: string | undefined
  /** ARGO_WATCHER's TIMEOUT: limits one call. */
  readonly limitMs?: number | undefined
}

/** The calls of a pipeline. Each rejects with a {@link NoAnswerError} or a {@link RefusedError}. */
export function createApi({ http, headers, traceparent, limitMs = callLimitMs }: Options) {
  async function call(request: Omit<HttpRequest, 'timeoutMs'> & { timeoutMs?: number }): Promise<Answer> {
    const answer = await http.send({
      timeoutMs: limitMs,
      ...request,
      path: `/api/v1${request.path}`,
      headers: { accept: 'application/json', ...(await headers()), ...request.headers },
    })
    return bodyOf(answer, http.server)
  }
  const pathOf = (id: string) => `/tasks/${encodeURIComponent(id)}`

  const address = http.server.href.replace(/\/$/, '')

  return {
    address,
    /** The page of a task. */
    pageOf: (id: string) => `${address}/task/${encodeURIComponent(id)}`,

    /** @returns the id of the task; the same one for the same key */
    async submit(submission: TaskSubmission, key: string, signal?: AbortSignal): Promise<string> {
      const { body } = await call({
        method: 'POST',
        path: '/tasks',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(traceparent !== undefined && { traceparent }),
        },
        body: JSON.stringify(submission),
        signal,
      })
      const { id } = body as { id?: unknown }
      if (typeof id !== 'string' || id === '') throw notOurs(http.server)
      return id
    },

    async task(id: string, signal?: AbortSignal): Promise<TaskWithClock> {
      return taskOf(await call({ path: pathOf(id), signal }), http.server)
    },

    /** Answers once the task is final, or after 50 s. */
    async waitForTask(id: string, signal?: AbortSignal): Promise<TaskWithClock> {
      const timeoutMs = waitSeconds * 1_000 + limitMs
      return taskOf(await call({ path: `${pathOf(id)}?wait=${waitSeconds}`, timeoutMs, signal }), http.server)
    },

    async cancel(id: string, signal?: AbortSignal): Promise<TaskWithClock> {
      return taskOf(await call({ method: 'DELETE', path: pathOf(id), signal }), http.server)
    },

    async list(filter: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<readonly TaskRecord[]> {
      const { body } = await call({ path: `/tasks?${new URLSearchParams(filter)}`, signal })
      const { tasks } = body as { tasks?: unknown }
      if (!Array.isArray(tasks) || !tasks.every(isTask)) throw notOurs(http.server)
      return tasks
    },

    /** The events of a task after the one named; ends when the task does, or the server stops. */
    async *events(id: string, after: string | undefined, signal?: AbortSignal): AsyncGenerator<TaskEvent> {
      const path = `/api/v1${pathOf(id)}/events`
      const resume: Record<string, string> = after === undefined ? {} : { 'last-event-id': after }
      const all = { accept: 'text/event-stream', ...(await headers()), ...resume }
      const { message, status } = await http.open({ path, headers: all, timeoutMs: limitMs, signal })
      if (status === 204) return void message.resume()
      if (status !== 200) {
        message.resume()
        throw refusalOf(message, http.server, '')
      }
      try {
        for await (const { data } of readEventStream(message)) {
          const event = parseJson(data)
          if (isEvent(event)) yield event
        }
      } catch (error) {
        throw connectionErrorOf(signal?.aborted ? signal.reason : error, http.server)
      } finally {
        message.destroy()
      }
    },

    async lock(signal?: AbortSignal): Promise<DeployLockDetails> {
      const { body } = await call({ path: '/deploy-lock/details', signal })
      if (typeof (body as { active?: unknown }).active !== 'boolean') throw notOurs(http.server)
      return body as DeployLockDetails
    },

    async setLock(request: { reason?: string; until?: number }, signal?: AbortSignal): Promise<void> {
      const body = JSON.stringify(request)
      await call({
        method: 'POST',
        path: '/deploy-lock',
        headers: { 'content-type': 'application/json' },
        body,
        signal,
      })
    },

    async releaseLock(signal?: AbortSignal): Promise<void> {
      await call({ method: 'DELETE', path: '/deploy-lock', signal })
    },

    async version(signal?: AbortSignal): Promise<string> {
      const { body } = await call({ path: '/version', signal })
      return typeof body === 'string' ? body : ''
    },
  }
}

type Answer = { readonly body: unknown; readonly now: number }

function bodyOf({ message, status, text }: HttpAnswer, server: URL): Answer {
  const body = parseJson(text)
  const error = (body as Refusal | undefined)?.error
  if (status === 429 || status >= 500) throw refusalOf(message, server, typeof error === 'string' ? error : '')
  if (status >= 400) {
    if (typeof error !== 'string') throw notOurs(server, status)
    throw new RefusedError(status, body as Refusal)
  }
  if (body === undefined) throw notOurs(server, status)
  const clock = Date.parse(message.headers.date ?? '')
  return { body, now: Number.isNaN(clock) ? Date.now() / 1_000 : clock / 1_000 }
}

/** A page of an ingress, or an address that is not the service's. */
const notOurs = (server: URL, status?: number) =>
  new NoAnswerError(
    `${server.href.replace(/\/$/, '')} returned ${status === undefined ? 'an answer' : status} that is not from Deployment Watcher`,
    { status: status ?? 200 },
  )

function taskOf({ body, now }: Answer, server: URL): TaskWithClock {
  if (!isTask(body)) throw notOurs(server)
  return { task: body, now }
}

/** What is read of every task; other fields are checked where they are used. */
const isTask = (body: unknown): body is TaskRecord => {
  const { id, app, status, created, images } = (body ?? {}) as Partial<Record<keyof TaskRecord, unknown>>
  const texts = [id, app, status]
  return texts.every((one) => typeof one === 'string') && typeof created === 'number' && Array.isArray(images)
}

const isEvent = (body: unknown): body is TaskEvent => {
  const { id, kind, at } = (body ?? {}) as Partial<Record<keyof TaskEvent, unknown>>
  return typeof id === 'number' && typeof kind === 'string' && typeof at === 'number'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A status that this version does not know is none that goes on. */
export const isOver = ({ status }: TaskRecord): boolean => isFinal(status as TaskStatus)
