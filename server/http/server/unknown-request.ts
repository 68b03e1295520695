import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../request-errors.ts'
import { echo } from './error-text.ts'
import { createKnownRoutes, targetPath } from './known-routes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Methods at this path that answer 404 while no route has them, since they do not exist here (spec 4, the deploy lock). */
    absentMethods?: readonly string[]
  }
}

export type AnswerPage = (request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * Answers requests that no route takes: 405 with `Allow` where the path has other methods, JSON 404 below /api and the
 * service's own paths, else the web page. `onRequest` catches them before their body is looked at.
 */
export function answerUnknownRequests(app: FastifyInstance, answerPage: AnswerPage): void {
  const routes = createKnownRoutes()
  const absent = createKnownRoutes()
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) routes.add(one, url)
    for (const one of config?.absentMethods ?? []) absent.add(one, url)
  })
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answer(request, reply)
  })
  app.setNotFoundHandler((request, reply) => answer(request, reply))

  function answer(request: FastifyRequest, reply: FastifyReply): unknown {
    const path = targetPath(request.url)
    const route = path.replace(/(?<=[^/])\/$/, '')
    const allowed = routes.methodsAt(route)
    const exists = !absent.methodsAt(route).includes(request.method)
    if (allowed.length > 0 && !allowed.includes(request.method) && exists)
      throw methodNotAllowed(request.method, allowed)
    if (isPage(request, path)) return answerPage(request, reply)
    throw new HttpError(404, `no route for ${echo(request.method)} ${echo(path)}`)
  }
}

function methodNotAllowed(method: string, allowed: readonly string[]): HttpError {
  const list = allowed.join(', ')
  return new HttpError(405, `method ${echo(method)} is not allowed here: use ${list}`, { Allow: list })
}

const ownPaths = /^\/(?:api|swagger|ws|metrics|healthz|livez|readyz)(?:\/|$)/

/** A path that tries to leave its folder, or is spelled oddly. */
const crooked = /\/(?:\.|%2e)|\/\/|\\/i

/** A page of the web UI: what a browser navigates to, not a file that a page asks for. */
function isPage({ method, headers }: FastifyRequest, path: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  const isFile = path.slice(path.lastIndexOf('/')).includes('.')
  return (
    isRead &&
    !isFile &&
    !ownPaths.test(path) &&
    !crooked.test(path) &&
    /text\/html|\*\/\*/.test(headers.accept ?? '*/*')
  )
}
