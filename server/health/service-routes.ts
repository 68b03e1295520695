import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { EffectiveSettings } from '../../contract/effective-settings.ts'
import { ErrorReply, RejectedReply } from '../../contract/error-reply.ts'
import { Reachability } from '../../contract/health.ts'
import { ServiceConfig } from '../../contract/service-config.ts'
import { ServiceStatus } from '../../contract/service-status.ts'
import type { CheckParts } from './check-parts.ts'
import { describeReachability } from './describe-health.ts'
import type { createDescribeStatus } from './describe-status.ts'
import { version } from './version.ts'

type Dependencies = {
  readonly checkParts: CheckParts
  readonly config: ServiceConfig
  readonly settings: EffectiveSettings
  readonly describeStatus: ReturnType<typeof createDescribeStatus>
  /** Rejects a request whose credential may not read what concerns those who run the service. */
  readonly requireServiceReader: (request: FastifyRequest) => Promise<void>
  readonly mayReadService: (request: FastifyRequest) => Promise<boolean>
}

const tags = ['service']
const Version = z.string().meta({ id: 'Version', examples: ['1.4.0'] })

/** What is told of the service itself; registered below /api/v1. */
export const serviceRoutes =
  ({
    checkParts,
    config,
    settings,
    describeStatus,
    requireServiceReader,
    mayReadService,
  }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/version',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getVersion',
          summary: 'Get the version of this service',
          response: { 200: Version, 401: RejectedReply, 503: ErrorReply },
        },
      },
      // A string would be sent as text, unless it is JSON already.
      async (_request, reply) => reply.type('application/json; charset=utf-8').send(JSON.stringify(version)),
    )

    app.get(
      '/config',
      {
        config: { isAlwaysReadable: true },
        schema: {
          tags,
          operationId: 'getConfig',
          summary: 'Get the settings that a client may know',
          response: { 200: ServiceConfig },
        },
      },
      async () => config,
    )

    app.get(
      '/settings',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'listSettings',
          summary: 'List the settings in effect',
          description:
            'Shown to callers with a credential for all applications, and to privileged users, also where reading is open.',
          security: [{ jwt: [] }, { deployToken: [] }, { oidc: [] }, { session: [] }],
          response: { 200: EffectiveSettings, 401: RejectedReply, 403: ErrorReply, 503: ErrorReply },
        },
      },
      async (request) => {
        await requireServiceReader(request)
        return settings
      },
    )

    app.get(
      '/status',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getStatus',
          summary: 'Get the state of this service and what it depends on',
          response: { 200: ServiceStatus, 401: RejectedReply, 503: ErrorReply },
        },
      },
      async (request) => describeStatus(await mayReadService(request)),
    )

    app.get(
      '/reachability',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getReachability',
          summary: 'Check that the parts answer',
          response: { 200: Reachability, 401: RejectedReply, 503: ErrorReply },
        },
      },
      async () => describeReachability(await checkParts()),
    )
  }
