import type { FastifyInstance } from 'fastify'
import { targetPath } from './known-routes.ts'

/** Inline styles are allowed because the UI kit and the API explorer write them; scripts are not. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join(';')

/**
 * Strict-Transport-Security is left to whoever terminates TLS: it would bind hosts we know nothing of. The last four only
 * turn off what old browsers and plug-ins do by themselves.
 */
const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
} as const

/** Headers for every answer. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ url }, reply) => {
    reply.headers(securityHeaders)
    if (targetPath(url).startsWith('/api/')) reply.header('Cache-Control', 'no-store')
  })
}
