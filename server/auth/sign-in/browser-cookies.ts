import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../http/request-errors.ts'
import { isReadMethod } from '../../http/server/request-rules.ts'
import { isSecure } from './browser-address.ts'

/** A page of another origin can send this header only after a preflight request, which is always denied. */
export const csrfHeader = 'X-Watcher-Csrf'

const signInSeconds = 10 * 60
const sessionSeconds = 24 * 60 * 60

/** The id of a session, whatever name its cookie has, for a service that has none and needs no more of cookies. */
export const sessionIn = ({ headers }: FastifyRequest): string | undefined =>
  /(?:^|;)\s*(?:__Host-)?watcher-session=([^;]+)/.exec(headers.cookie ?? '')?.[1]

/**
 * The two cookies. `__Host-` lets no other host of the domain set them; a browser takes that only with https, so the names
 * differ on plain http, and a cookie of the other name counts for nothing.
 */
export function createBrowserCookies(publicUrl: string | undefined) {
  // By the scheme alone: a check by HTTP/1.0 names no host.
  const isByHttps = ({ protocol }: FastifyRequest) => isSecure(publicUrl ?? `${protocol}:`)
  const optionsFor = (request: FastifyRequest) =>
    ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isByHttps(request) }) as const
  const nameFor = (request: FastifyRequest, kind: 'session' | 'sign-in') =>
    `${isByHttps(request) ? '__Host-' : ''}watcher-${kind}`

  return {
    /** The id of a session. @throws {HttpError} if a change comes without the header */
    sessionOf(request: FastifyRequest): string | undefined {
      const id = request.cookies[nameFor(request, 'session')]
      if (id === undefined || isReadMethod(request.method)) return id
      if (request.headers[csrfHeader.toLowerCase()] === '1') return id
      throw new HttpError(403, `a change with a session cookie needs the header ${csrfHeader}: 1`)
    },
    signInOf: (request: FastifyRequest): string | undefined => request.cookies[nameFor(request, 'sign-in')],
    setSession: (request: FastifyRequest, reply: FastifyReply, id: string) =>
      reply.setCookie(nameFor(request, 'session'), id, { ...optionsFor(request), maxAge: sessionSeconds }),
    setSignIn: (request: FastifyRequest, reply: FastifyReply, id: string) =>
      reply.setCookie(nameFor(request, 'sign-in'), id, { ...optionsFor(request), maxAge: signInSeconds }),
    take: (request: FastifyRequest, reply: FastifyReply, kind: 'session' | 'sign-in') =>
      reply.clearCookie(nameFor(request, kind), optionsFor(request)),
  }
}
export type BrowserCookies = ReturnType<typeof createBrowserCookies>
