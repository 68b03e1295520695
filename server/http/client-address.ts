import type { FastifyRequest } from 'fastify'

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip']

/**
 * Whose request it is, as far as that is known: behind a proxy that nobody told us to trust, all clients have one address
 * and say what they like about their own.
 */
export function clientAddress(request: FastifyRequest, trustsProxies: boolean): string | undefined {
  if (!trustsProxies && forwardingHeaders.some((name) => request.headers[name] !== undefined)) return undefined
  return request.ip
}
