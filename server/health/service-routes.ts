import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ErrorReply, Refusal } from '../../contract/error-reply.ts'
import { Reachability } from '../../contract/health.ts'
import { ServiceConfig } from '../../contract/service-config.ts'
import type { CheckParts } from './check-parts.ts'
import { judgeReachability } from './judge-health.ts'
import { version } from './version.ts'

type Dependencies = { readonly checkParts: CheckParts; readonly config: ServiceConfig }

const tags = ['service']
const Version = z.string().meta({ id: 'Version', examples: ['1.4.0'] })

/** /version, /config and /reachability; registered below /api/v1. */
export const serviceRoutes =
  ({ checkParts, config }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/version',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getVersion',
          summary: 'Get the version of this service',
          response: { 200: Version, 401: Refusal, 503: ErrorReply },
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
      '/reachability',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getReachability',
          summary: 'Check that the parts answer',
          response: { 200: Reachability, 401: Refusal, 503: ErrorReply },
        },
      },
      async () => judgeReachability(await checkParts()),
    )
  }
