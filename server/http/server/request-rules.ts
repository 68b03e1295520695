import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createReadBody } from '../limits/bodies-under-way.ts'
import { checkHeaderList } from '../limits/check-header-list.ts'
import { networkOf } from '../limits/client-address.ts'
import { HttpError } from '../request-errors.ts'
import { acceptsEventStream } from './accepts-event-stream.ts'
import { checkMediaType } from './check-media-type.ts'
import { isForeignHost, isForeignOrigin, isNavigation } from './foreign-origin.ts'
import { parseJsonBody } from './json-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A page of another site sent it. */
    isForeignOrigin: boolean
  }
}

/** Whether a request with this method only reads. */
export const isReadMethod = (method: string): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method)

/** A proxy that changes `Host` would send a browser round and round: it is redirected once in ten seconds. */
const redirectedCookie = 'watcher-redirected=1; Max-Age=10; Path=/; HttpOnly; SameSite=Lax'
const wasRedirected = (cookies: string | undefined) => cookies?.includes('watcher-redirected=1') === true

/** What must hold of every request before its route sees it. */
export function addRequestRules(app: FastifyInstance, publicUrl: string | undefined): void {
  app.addHook('onRequest', async (request, reply) => {
    const { raw, method, headers, host, url } = request
    const fault = checkHeaderList(raw.rawHeaders, raw.httpVersion)
    if (fault) throw new HttpError(fault.status, fault.error)
    if (publicUrl !== undefined && isForeignHost(headers, host, publicUrl)) {
      if (isNavigation(headers) && isReadMethod(method) && url.startsWith('/') && !wasRedirected(headers.cookie))
        return reply.header('set-cookie', redirectedCookie).redirect(`${new URL(publicUrl).origin}${url}`)
      throw new HttpError(
        403,
        'browsers must use the host of PUBLIC_URL; a proxy must keep Host, or send X-Forwarded-Host and be in TRUST_PROXY',
      )
    }
    const isGuarded = !isReadMethod(method) || acceptsEventStream(headers.accept)
    request.isForeignOrigin = isForeignOrigin(headers, publicUrl)
    if (isGuarded && request.isForeignOrigin) throw new HttpError(403, 'cross-origin request rejected')
  })
  app.addHook('preParsing', async ({ method, headers }) => {
    const fault = isReadMethod(method) ? undefined : checkMediaType(headers)
    if (fault !== undefined) throw new HttpError(415, fault)
  })
  app.removeAllContentTypeParsers()
  const readBody = createReadBody()
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit: maxBytes } = request.routeOptions
    return readBody(payload, { address: networkOf(request.ip), maxBytes }, parseJsonBody)
  })
}
