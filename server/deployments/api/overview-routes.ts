import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AppSummaries, SummaryWindow, summaryDays } from '../../../contract/app-summary.ts'
import { ErrorReply, RejectedReply } from '../../../contract/error-reply.ts'
import { History, HistoryFilter } from '../../../contract/history.ts'
import { TaskFilterFields } from '../../../contract/task.ts'
import { TaskCounts } from '../../../contract/task-counts.ts'
import { NameSearch, TaskNames } from '../../../contract/task-names.ts'
import { globsOf } from '../../auth/access/read-access.ts'
import type { createReadHistory } from '../read/history.ts'
import type { TaskReader } from '../read/task-reader.ts'

type Dependencies = {
  readonly tasks: Pick<TaskReader, 'count' | 'names'>
  /** The name that tasks have of an application. */
  readonly canonicalName: (app: string) => string
  readonly readHistory: ReturnType<typeof createReadHistory>
  readonly summaries: (days: number) => Promise<AppSummaries>
  readonly canSeeTasksOf: (request: FastifyRequest, app: string) => boolean
}

const answers = { 400: ErrorReply, 401: RejectedReply, 503: ErrorReply }

/** What is told of many tasks at once; registered below /api/v1. */
export const overviewRoutes =
  ({ tasks, canonicalName, readHistory, summaries, canSeeTasksOf }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    const inCanonicalName = <Filter extends { readonly app?: string | undefined }>(filter: Filter): Filter =>
      filter.app === undefined ? filter : { ...filter, app: canonicalName(filter.app) }

    app.get(
      '/tasks/counts',
      {
        config: { isReadableInScope: true },
        schema: {
          tags: ['tasks'],
          operationId: 'countTasks',
          summary: 'Count the tasks of each status',
          description: 'Accepts the filters of the list; a status filter is ignored.',
          querystring: TaskFilterFields,
          response: { 200: TaskCounts, ...answers },
        },
      },
      (request) => tasks.count(inCanonicalName(request.query), globsOf(request)),
    )

    app.get(
      '/tasks/names',
      {
        config: { isReadableInScope: true },
        schema: {
          tags: ['tasks'],
          operationId: 'listTaskNames',
          summary: 'List names of applications, projects or authors',
          description: 'Returns names found in tasks. A scoped deploy token gets those of tasks in its scope.',
          querystring: NameSearch,
          response: { 200: TaskNames, ...answers },
        },
      },
      (request) => tasks.names(request.query, globsOf(request)),
    )

    app.get(
      '/history',
      {
        config: { isReadableInScope: true },
        schema: {
          tags: ['tasks'],
          operationId: 'getHistory',
          summary: 'Get figures of the tasks that ended in the last days',
          querystring: HistoryFilter,
          response: { 200: History, ...answers },
        },
      },
      (request) => readHistory(inCanonicalName(request.query), globsOf(request)),
    )

    app.get(
      '/apps/summary',
      {
        config: { isReadableInScope: true },
        schema: {
          tags: ['applications'],
          operationId: 'listAppSummaries',
          summary: 'Summarize the deployments of each application',
          querystring: SummaryWindow,
          response: { 200: AppSummaries, ...answers },
        },
      },
      async (request) => {
        const summary = await summaries(summaryDays(request.query))
        return { ...summary, apps: summary.apps.filter((one) => canSeeTasksOf(request, one.app)) }
      },
    )
  }
