import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ErrorReply, RejectedReply } from '../../contract/error-reply.ts'
import { TaskMissing } from '../../contract/task.ts'
import { EventsAfter, type TaskEvent, TaskEvents } from '../../contract/task-event.ts'
import { UnauthorizedError } from '../auth/access/auth-errors.ts'
import type { RequestOrigin } from '../http/limits/client-address.ts'
import type { ClientQuota } from '../http/limits/client-quota.ts'
import { fillAnswer } from '../http/limits/fill-answer.ts'
import { HttpError } from '../http/request-errors.ts'
import { acceptsEventStream } from '../http/server/accepts-event-stream.ts'
import type { EventFeed } from './event-feed.ts'
import type { EventStore } from './event-store.ts'
import { openEventStream } from './event-stream.ts'
import type { FramedEvent } from './framed-event.ts'
import type { LiveStates } from './live-states.ts'

type Dependencies = {
  readonly events: Pick<EventStore, 'after' | 'newest' | 'deletedTo' | 'verdictOf'>
  readonly feed: Pick<EventFeed, 'follow' | 'isCurrent'>
  readonly states: Pick<LiveStates, 'follow'>
  /** The applications of tasks, by id; unknown for one that is gone. */
  readonly readTasks: (ids: readonly string[]) => Promise<ReadonlyMap<string, { readonly app: string }>>
  /** Whether a request is shown what belongs to an application. */
  readonly canSeeTasksOf: (request: FastifyRequest, app: string | undefined) => boolean
  /** Gives the id of a task as it is stored; rejects when there is none, or none that the request may be shown. */
  readonly requireTask: (request: FastifyRequest, id: string) => Promise<{ readonly id: string }>
  /** Judges the credential of an open stream once more; rejects with a {@link UnauthorizedError}. */
  readonly recheckReadAccess: (request: FastifyRequest) => Promise<void>
  readonly streams: Pick<ClientQuota, 'acquire'>
  readonly originOf: (request: FastifyRequest) => RequestOrigin
  /** Aborts when the service begins to stop; open streams end then. */
  readonly stopping: AbortSignal
}

const tags = ['events']
const pageSize = 1_000
/** So many events at once are in memory of which none may fit into the answer. */
const chunkSize = 100
const judgedAgainMs = 10_000
const refusals = { 400: ErrorReply, 401: RejectedReply, 403: ErrorReply, 429: ErrorReply, 503: ErrorReply }
const stream =
  '`Accept: text/event-stream` streams the events, each as `data` with its `id`; `Last-Event-ID` resumes after the ' +
  'event it names. A stream begins with an `id` alone, the position that it starts from, and holds `event: alive` every ' +
  '15 s so that clients see that it is alive. `event: reset` says that the requested position is in the future, as after a restored ' +
  'backup, or that events after it were deleted: read again.'

const stateEvents =
  'The stream also has `event: lock`, with the response of `/deploy-lock/details` as `data`, at its beginning and whenever ' +
  'that changes, and `event: service`, with `{"argo_cd":{"available","since","detail"}}`, when Argo CD stops answering or ' +
  'answers again, and at the beginning while it does not. These two have no `id`. A scoped deploy token is shown the events ' +
  'of its applications; a page of them may be empty and still name the next one.'

const StreamHeaders = z.looseObject({
  'last-event-id': z.string().optional().describe('For a stream: resume after this event; an invalid id is ignored'),
})

export const timelineRoutes =
  ({
    events,
    feed,
    states,
    readTasks,
    canSeeTasksOf,
    requireTask,
    recheckReadAccess,
    streams,
    originOf,
    stopping,
  }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    /** Where reading is closed: ends a stream whose reader has signed out, or whose credential has expired or was revoked. */
    const endWhenRefused = (request: FastifyRequest, taskId: string | undefined, end: () => void) => {
      if (request.readAccess === undefined) return () => {}
      const judge = async () => {
        await recheckReadAccess(request)
        if (taskId !== undefined) await requireTask(request, taskId)
      }
      const onError = (error: unknown) => {
        if (error instanceof UnauthorizedError) end() // and an outage signs no user out
      }
      const timer = setInterval(() => void judge().catch(onError), judgedAgainMs)
      return () => clearInterval(timer)
    }

    const visibleOf = async (request: FastifyRequest, chunk: readonly TaskEvent[], taskId: string | undefined) => {
      if (taskId !== undefined || canSeeTasksOf(request, undefined)) return chunk
      const tasks = await readTasks([...new Set(chunk.map((event) => event.task_id))])
      return chunk.filter((event) => canSeeTasksOf(request, tasks.get(event.task_id)?.app))
    }

    const answer = async (request: FastifyRequest, reply: FastifyReply, after: number | undefined, taskId?: string) => {
      if (!wantsStream(request))
        return readPage(events, originOf(request).address, after ?? 0, taskId, (chunk) =>
          visibleOf(request, chunk, taskId),
        )
      const client = originOf(request) // known only as long as it is connected
      const newest = await events.newest()
      const resumeAfter = lastEventId(request) ?? after
      // The timeline of one task is told from its beginning, all events from now on.
      const start = resumeAfter ?? (taskId === undefined ? newest : 0)
      if (taskId !== undefined && start >= ((await events.verdictOf(taskId)) ?? Number.POSITIVE_INFINITY)) {
        return reply.code(204).send() // tells an EventSource not to come back: the timeline is over
      }
      const deletedTo = await events.deletedTo()
      if (reply.raw.destroyed) return reply.hijack()
      const release = streams.acquire(client)
      if (!release) throw tooManyStreams()
      reply.hijack()
      const isLost = start > newest || (taskId === undefined && start < deletedTo)
      const position = isLost ? newest : start
      const reader = openEventStream(reply.raw, plainHeaders(reply), position, feed.isCurrent)
      stopping.addEventListener('abort', reader.end)
      if (stopping.aborted) reader.end() // its reader comes back, to another replica
      const stopJudging = endWhenRefused(request, taskId, reader.end)
      const isShown = ({ event }: FramedEvent) => taskId !== undefined || canSeeTasksOf(request, event.task?.app)
      if (isLost) reader.reset(newest)
      const leaveStates = taskId === undefined ? states.follow(reader.sendNewest) : () => {}
      try {
        for await (const page of feed.follow(position, taskId, reader.over)) {
          const end = taskId === undefined ? -1 : page.findIndex(({ event }) => event.kind === 'verdict')
          const shown = (end === -1 ? page : page.slice(0, end + 1)).filter(isShown)
          for (const { frame } of shown) await reader.send(frame)
          if (end !== -1) reader.end()
          else if (shown.at(-1) !== page.at(-1)) reader.moveTo(page.at(-1)?.event.id ?? position)
        }
        await reader.closed
      } finally {
        leaveStates()
        stopJudging()
        stopping.removeEventListener('abort', reader.end)
        reader.end()
        release()
      }
      return reply
    }

    app.get(
      '/events',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'listEvents',
          summary: 'List the events of all tasks, in the order of their ids',
          description: `${stream} As JSON it begins with the first event of all, as a stream with the next one. ${stateEvents}`,
          produces: ['application/json', 'text/event-stream'],
          headers: StreamHeaders,
          querystring: EventsAfter,
          response: { 200: TaskEvents, ...refusals },
        },
      },
      (request, reply) => answer(request, reply, request.query.after),
    )

    app.get(
      '/tasks/:id/events',
      {
        config: { isReadableInScope: true, isReadableByOwner: true },
        schema: {
          tags,
          operationId: 'listTaskEvents',
          summary: 'List the events of a task',
          description: stream,
          produces: ['application/json', 'text/event-stream'],
          headers: StreamHeaders,
          params: z.object({ id: z.string() }),
          querystring: EventsAfter,
          response: {
            200: TaskEvents,
            204: z.null().describe('The task and its stream have ended'),
            404: TaskMissing,
            ...refusals,
          },
        },
      },
      async (request, reply) => {
        const { id } = await requireTask(request, request.params.id)
        return answer(request, reply, request.query.after, id)
      },
    )
  }

/** The page ends where its events fill an answer, or at `pageSize`. */
async function readPage(
  events: Pick<EventStore, 'after'>,
  address: string,
  after: number,
  taskId: string | undefined,
  visibleOf: (chunk: readonly TaskEvent[]) => Promise<readonly TaskEvent[]>,
): Promise<TaskEvents> {
  let last = after
  let isWhole = false
  async function* chunks() {
    for (let read = 0; read < pageSize && !isWhole; read += chunkSize) {
      const chunk = await events.after(last, chunkSize, taskId)
      isWhole = chunk.length < chunkSize
      last = chunk.at(-1)?.id ?? last
      yield await visibleOf(chunk)
    }
  }
  const { items, isCut } = await fillAnswer(address, async () => chunks())
  const next = isCut ? items.at(-1)?.id : last
  const hasMore = isCut || (!isWhole && (await events.after(last, 1, taskId)).length > 0)
  return { events: items, ...(hasMore && next !== undefined ? { next_after: next } : {}) }
}

/** Reconnecting at once would not help. */
const streamRetrySeconds = 30
const tooManyStreams = () =>
  new HttpError(429, 'too many event streams are open', { 'Retry-After': String(streamRetrySeconds) })

/** HEAD asks what a look would answer: a stream has no end. */
const wantsStream = ({ method, headers }: FastifyRequest) => method === 'GET' && acceptsEventStream(headers.accept)

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined
}

/** The security headers that hooks have set; a hijacked reply must send them itself. */
const plainHeaders = (reply: FastifyReply) =>
  Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
