import rateLimit from '@fastify/rate-limit'
import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { RefusedRequestError } from './request-errors.ts'

const minuteMs = 60_000

/** Lets routes have a limit ({@link atMostPerMinute}). Register it before them. */
export function addRequestLimits(app: FastifyInstance): void {
  app.register(rateLimit, {
    global: false,
    errorResponseBuilder: (_request, { max }) =>
      new RefusedRequestError(429, `more than ${max} requests a minute from one address`),
  })
}

/**
 * The configuration of a route that one client may call so often on this replica; 0: as often as he likes. A client is an
 * address: that of the proxy where no proxy is trusted, since nobody may choose his own.
 */
export const atMostPerMinute = (max: number): FastifyContextConfig =>
  max > 0 ? { rateLimit: { max, timeWindow: minuteMs } } : {}
