import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { ErrorReply, RejectedReply } from '../../../contract/error-reply.ts'
import { VersionFilter, Versions } from '../../../contract/versions.ts'
import type { RequestOrigin } from '../../http/limits/client-address.ts'
import type { TaskAudience } from '../read/describe-task.ts'
import type { ListVersions } from '../versions/list-versions.ts'

type Dependencies = {
  readonly listVersions: ListVersions
  /** The name that tasks have of an application. */
  readonly canonicalName: (app: string) => string
  readonly audienceOf: (request: FastifyRequest) => TaskAudience
  readonly originOf: (request: FastifyRequest) => RequestOrigin
}

/** What runs where; registered below /api/v1. */
export const versionsRoutes =
  ({ listVersions, canonicalName, audienceOf, originOf }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/versions',
      {
        config: { isReadableInScope: true },
        schema: {
          tags: ['applications'],
          operationId: 'listVersions',
          summary: 'List the image versions that run',
          description:
            'Returns the images that Argo CD shows for each application, with the task that deployed them. Applications without a task are listed only for requests with a valid credential.',
          querystring: VersionFilter,
          response: { 200: Versions, 400: ErrorReply, 401: RejectedReply, 503: ErrorReply },
        },
      },
      (request) =>
        listVersions(
          { ...request.query, app: request.query.app && canonicalName(request.query.app) },
          audienceOf(request),
          originOf(request).address,
        ),
    )
  }
