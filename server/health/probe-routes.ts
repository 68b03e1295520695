import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Health } from '../../contract/health.ts'
import type { CheckParts } from './check-parts.ts'

type Dependencies = {
  readonly checkParts: CheckParts
  /** The service was told to stop and finishes what it has. */
  readonly isDraining: () => boolean
}

const tags = ['service']
/** argo-watcher's words: checks compare them. */
const Probe = z
  .object({ status: z.enum(['up', 'down']), detail: z.string().optional().describe('Why it is down') })
  .meta({ id: 'Probe', examples: [{ status: 'up' }] })
const up = { status: 'up' } as const

/** /healthz, /livez and /readyz; registered without a prefix. */
export const probeRoutes =
  ({ checkParts, isDraining }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/healthz',
      {
        schema: {
          tags,
          operationId: 'getHealth',
          summary: 'Get the health of the service and its parts',
          response: { 200: Health, 503: Health },
        },
      },
      async (_request, reply) => {
        const health = await checkParts()
        return reply.code(health.status === 'down' ? 503 : 200).send(health)
      },
    )

    app.get(
      '/livez',
      {
        schema: { tags, operationId: 'getLiveness', summary: 'Check that the process runs', response: { 200: Probe } },
      },
      async () => up,
    )

    app.get(
      '/readyz',
      {
        schema: {
          tags,
          operationId: 'getReadiness',
          summary: 'Check whether requests should be sent here',
          response: { 200: Probe, 503: Probe },
        },
      },
      async (_request, reply) => {
        const down = (detail: string) => reply.code(503).send({ status: 'down', detail })
        if (isDraining()) return down('draining')
        const { database } = await checkParts()
        return database.status === 'down' ? down('the database does not answer') : up
      },
    )
  }
