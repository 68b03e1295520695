import type { FastifyInstance } from 'fastify'
import { targetPath } from './known-routes.ts'

/** What a page may load and run; inline scripts never. */
const contentSecurityPolicy = (styles: string) =>
  [
    "default-src 'self'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join(';')
const policy = contentSecurityPolicy("'self'")
/** The API explorer writes inline styles. */
const explorerPolicy = contentSecurityPolicy("'self' 'unsafe-inline'")

/**
 * Strict-Transport-Security is left to the TLS terminator: it would bind hosts we know nothing of. The last four only
 * turn off what old browsers and plug-ins do by themselves.
 */
const securityHeaders = {
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
    const path = targetPath(url)
    reply.headers(securityHeaders)
    reply.header('Content-Security-Policy', path.startsWith('/swagger/') ? explorerPolicy : policy)
    if (path.startsWith('/api/')) reply.header('Cache-Control', 'no-store')
  })
}
