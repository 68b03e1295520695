import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ErrorReply, RejectedReply, RejectedSubmission } from '../../../contract/error-reply.ts'
import {
  renderTaskCursor,
  SubmissionHeaders,
  TaskAcceptance,
  TaskFilter,
  TaskList,
  TaskMissing,
  TaskRecord,
  TaskSubmission,
  TaskWait,
} from '../../../contract/task.ts'
import { isFinal } from '../../../contract/task-status.ts'
import type { Principal } from '../../auth/access/principal.ts'
import { globsOf } from '../../auth/access/read-access.ts'
import type { RequestOrigin } from '../../http/limits/client-address.ts'
import type { ClientQuota } from '../../http/limits/client-quota.ts'
import { HttpError, InvalidRequestError } from '../../http/request-errors.ts'
import { InvalidJsonError } from '../../http/server/json-body.ts'
import type { CancelTask } from '../own/cancel-task.ts'
import type { TaskCompletions } from '../own/task-completions.ts'
import type { DescribeTask, TaskAudience } from '../read/describe-task.ts'
import { findTask, type RequireTask } from '../read/require-task.ts'
import type { TaskReader } from '../read/task-reader.ts'
import { taskRecordOf } from '../read/task-record.ts'
import type { ReceiveSubmission } from '../submit/receive-submission.ts'
import type { Task } from '../task.ts'
import { TaskNotFoundError } from '../task-errors.ts'
import { parseTaskId } from '../task-id.ts'

type Dependencies = {
  readonly submission: ReceiveSubmission
  readonly waits: Pick<ClientQuota, 'acquire'>
  readonly originOf: (request: FastifyRequest) => RequestOrigin
  /** The name that tasks have of an application. */
  readonly canonicalName: (app: string) => string
  readonly cancelTask: CancelTask
  readonly tasks: Pick<TaskReader, 'find' | 'list'>
  readonly describeTask: DescribeTask
  /** What a request is shown of applications beside the task that it asks for. */
  readonly audienceOf: (request: FastifyRequest) => TaskAudience
  readonly requireTask: RequireTask
  readonly completions: Pick<TaskCompletions, 'wait'>
  /** Who cancels. Rejects for a bad credential, one that is needed and absent, or one not good for `app`. */
  readonly requireAccess: (request: FastifyRequest, action: 'cancel', app?: string) => Promise<Principal>
  /** Who submitted a task with a credential that has only expired since. */
  readonly expiredSubmitterOf: (request: FastifyRequest, task: Task | undefined) => Promise<Principal | undefined>
  /** Whether a request shows a good credential that may read tasks of `app`. */
  readonly isAllowed: (request: FastifyRequest, action: 'read', app: string) => Promise<boolean>
  /** Verifies the right to read once more. @throws as the first time */
  readonly recheckReadAccess: (request: FastifyRequest) => Promise<void>
}

const tags = ['tasks']
const TaskParameters = z.object({ id: z.string().min(1, 'must not be empty') })

export const taskRoutes =
  ({
    submission,
    waits,
    originOf,
    canonicalName,
    cancelTask,
    tasks,
    describeTask,
    audienceOf,
    requireTask,
    completions,
    requireAccess,
    expiredSubmitterOf,
    isAllowed,
    recheckReadAccess,
  }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    const recordFor = (request: FastifyRequest, task: Task): Promise<TaskRecord> =>
      describeTask(task, audienceOf(request))

    app.post(
      '/tasks',
      {
        bodyLimit: maxSubmissionBytes,
        onRequest: async (request) => submission.count(request),
        errorHandler: async (error, request) => {
          if (error instanceof InvalidRequestError || error instanceof InvalidJsonError)
            await submission.limitInvalid(request)
          throw error
        },
        schema: {
          tags,
          operationId: 'submitTask',
          summary: 'Submit a deployment task',
          description: 'With a valid credential the tag is also committed to the GitOps repository of the application.',
          security: [{}, { jwt: [] }, { deployToken: [] }, { oidc: [] }, { session: [], csrf: [] }],
          headers: SubmissionHeaders,
          body: TaskSubmission,
          response: {
            202: TaskAcceptance,
            401: RejectedReply,
            403: ErrorReply,
            406: RejectedSubmission,
            409: ErrorReply,
            413: ErrorReply,
            415: ErrorReply,
            429: ErrorReply,
            503: ErrorReply,
          },
        },
      },
      async (request, reply) => {
        const id = await submission.submit(request)
        return reply.code(202).send({ id, status: 'accepted' })
      },
    )

    app.get(
      '/tasks',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'listTasks',
          summary: 'List tasks, newest first',
          description:
            'Use `next_cursor` for long histories: unlike `offset`, it neither skips nor repeats tasks while new ones arrive.',
          querystring: TaskFilter,
          response: { 200: TaskList, 400: ErrorReply, 401: RejectedReply, 429: ErrorReply, 503: ErrorReply },
        },
      },
      async (request) => {
        const { app: name, cursor, offset = 0 } = request.query
        const filter = name === undefined ? request.query : { ...request.query, app: canonicalName(name) }
        const {
          tasks: page,
          next,
          isCut,
          total,
        } = await tasks.list(filter, {
          globs: globsOf(request),
          address: originOf(request).address,
        })
        return {
          tasks: page.map(taskRecordOf),
          ...(total ? { total: total.count } : {}),
          ...(total?.isCapped ? { total_capped: true } : {}),
          ...(next ? { next_cursor: renderTaskCursor(next) } : {}),
          ...(isCut && cursor === undefined ? { next_offset: offset + page.length } : {}),
        }
      },
    )

    app.get(
      '/tasks/:id',
      {
        config: { isReadableInScope: true, isReadableByOwner: true },
        schema: {
          tags,
          operationId: 'getTask',
          summary: 'Get a task, or wait until it ends',
          params: TaskParameters,
          querystring: TaskWait,
          response: {
            200: TaskRecord,
            400: ErrorReply,
            401: RejectedReply,
            404: TaskMissing,
            429: ErrorReply,
            503: ErrorReply,
          },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        const { wait } = request.query
        const taskId = parseTaskId(id)
        if (wait === undefined || taskId === undefined) return recordFor(request, await requireTask(request, id))
        const answered = new AbortController()
        reply.raw.once('close', () => answered.abort())
        // Waiting begins before the first look, so that an end between the two is not missed.
        const ending = completions.wait(taskId, wait * 1000, answered.signal)
        try {
          const task = await requireTask(request, id)
          if (isFinal(task.status)) return await recordFor(request, task)
          const release = waits.acquire(originOf(request))
          if (!release) throw tooManyWaits()
          await ending.finally(release)
          if (answered.signal.aborted) return reply.hijack() // when thousands release at once, their reads would delay all others
          // A credential may have been revoked, or a session ended, while the request waited.
          await recheckReadAccess(request)
          const isOpen = request.readAccess === undefined
          return await recordFor(
            request,
            isOpen ? ((await tasks.find(taskId)) ?? task) : await requireTask(request, id),
          )
        } finally {
          answered.abort()
        }
      },
    )

    app.delete(
      '/tasks/:id',
      {
        schema: {
          tags,
          operationId: 'cancelTask',
          summary: 'Cancel an unfinished task',
          description: 'A commit that is already pushed stays.',
          security: [{ jwt: [] }, { deployToken: [] }, { oidc: [] }, { session: [], csrf: [] }],
          params: TaskParameters,
          response: {
            200: TaskRecord,
            401: RejectedReply,
            403: ErrorReply,
            404: TaskMissing,
            409: RejectedReply,
            503: ErrorReply,
          },
        },
      },
      async (request) => {
        const task = await findTask(tasks, request.params.id)
        const submitter = await expiredSubmitterOf(request, task)
        if (task !== undefined && submitter !== undefined) return taskRecordOf(await cancelTask(task, submitter))
        await requireAccess(request, 'cancel')
        if (task === undefined || !(await isAllowed(request, 'read', task.app)))
          throw new TaskNotFoundError(request.params.id)
        return taskRecordOf(await cancelTask(task, await requireAccess(request, 'cancel', task.app)))
      },
    )
  }

/** Fifty images with all that a submission may say fit; other bodies have 16 KiB. */
const maxSubmissionBytes = 1024 * 1024

/** Coming back at once would not help. */
const waitRetrySeconds = 10
const tooManyWaits = () =>
  new HttpError(429, 'too many requests are waiting for tasks', { 'Retry-After': String(waitRetrySeconds) })
