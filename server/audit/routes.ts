import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AuditFilter, AuditPage } from '../../contract/audit.ts'
import { ErrorReply, RejectedReply } from '../../contract/error-reply.ts'
import type { RequestOrigin } from '../http/limits/client-address.ts'
import type { AuditStore } from './audit-store.ts'

type Dependencies = {
  readonly audit: AuditStore
  /** Rejects unless a user calls who may read it. */
  readonly requireUser: (request: FastifyRequest) => Promise<unknown>
  readonly originOf: (request: FastifyRequest) => RequestOrigin
}

/** Registered below /api/v1, and only with an identity provider. */
export const auditRoutes =
  ({ audit, requireUser, originOf }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/audit',
      {
        schema: {
          tags: ['audit'],
          operationId: 'listAuditEntries',
          summary: 'List audit entries, newest first',
          security: [{ session: [] }, { oidc: [] }],
          querystring: AuditFilter,
          response: {
            200: AuditPage,
            400: ErrorReply,
            401: RejectedReply,
            403: ErrorReply,
            429: ErrorReply,
            503: ErrorReply,
          },
        },
      },
      async (request) => {
        await requireUser(request)
        return audit.page(request.query, originOf(request).address)
      },
    )
  }
