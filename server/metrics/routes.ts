import type { FastifyPluginAsync } from 'fastify'
import type { Metrics } from './metrics.ts'

/** /metrics for Prometheus; registered on the server itself, or on one of its own where METRICS_PORT is set. */
export const metricsRoutes =
  (metrics: Pick<Metrics, 'contentType' | 'render'>): FastifyPluginAsync =>
  async (app) => {
    app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.render()),
    )
  }
