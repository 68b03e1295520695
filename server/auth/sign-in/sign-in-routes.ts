import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { SignedOut } from '../../../contract/auth.ts'
import { ErrorReply } from '../../../contract/error-reply.ts'
import { returnPathOf, type SignInErrorReason, signInErrorPath } from '../../../contract/text/sign-in-error.ts'
import type { RequestOrigin } from '../../http/limits/client-address.ts'
import type { RateLimit } from '../../http/limits/rate-limit.ts'
import { HttpError } from '../../http/request-errors.ts'
import { baseUrlOf, isOnThisMachine, isSecure } from './browser-address.ts'
import { type BrowserCookies, csrfHeader } from './browser-cookies.ts'
import type { IdentityProvider } from './identity-provider.ts'
import type { SessionStore } from './session-store.ts'
import type { SignIn } from './sign-in.ts'

type Dependencies = {
  readonly signIn: SignIn
  readonly sessions: Pick<SessionStore, 'find' | 'end'>
  readonly provider: Pick<IdentityProvider, 'signOutUrl'>
  readonly cookies: BrowserCookies
  readonly publicUrl: string | undefined
  readonly signInLimit: RateLimit
  readonly originOf: (request: FastifyRequest) => RequestOrigin
}

const tags = ['sign-in']

/** Signing in and out with a browser; registered without a prefix, and only with an identity provider. */
export const signInRoutes =
  ({ signIn, sessions, provider, cookies, publicUrl, signInLimit, originOf }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.addHook('onSend', async (_request, reply) => void reply.header('Cache-Control', 'no-store'))
    const addressOf = (request: FastifyRequest) => baseUrlOf(request, publicUrl)
    const requireSignInsLeft = (request: FastifyRequest) => {
      const retryAfterSeconds = signInLimit.acquire(originOf(request))
      if (retryAfterSeconds === undefined) return
      const rule = `more than ${signInLimit.maxPerMinute} sign-ins a minute from one address`
      throw new HttpError(429, rule, { 'Retry-After': String(retryAfterSeconds) })
    }
    const fail = (reply: FastifyReply, reason: SignInErrorReason, back: string) =>
      reply.redirect(`${signInErrorPath}?${new URLSearchParams({ reason, back })}`)

    app.get(
      '/auth/login',
      {
        onRequest: async (request) => requireSignInsLeft(request),
        schema: {
          tags,
          operationId: 'signIn',
          summary: 'Sign in with a browser',
          querystring: z.object({
            return: z.string().optional().catch(undefined).describe('Path to return to'),
          }),
          response: {
            302: z.null().describe('To the identity provider, or to /sign-in-error'),
            429: ErrorReply,
            503: ErrorReply,
          },
        },
      },
      async (request, reply) => {
        const address = addressOf(request)
        const back = returnPathOf(request.query.return)
        if (!isSecure(address) && !isOnThisMachine(address)) return fail(reply, 'plain-http', back)
        const begun = await signIn.begin(`${address}/auth/callback`, back)
        if (begun.kind === 'failed') return fail(reply, begun.reason, begun.back)
        cookies.setSignIn(request, reply, begun.id)
        return reply.redirect(begun.url.href)
      },
    )

    app.get(
      '/auth/callback',
      {
        schema: {
          tags,
          operationId: 'finishSignIn',
          summary: 'Finish a sign-in: the identity provider redirects here',
          response: { 302: z.null().describe('To where the sign-in began, or to /sign-in-error'), 503: ErrorReply },
        },
      },
      async (request, reply) => {
        const callback = new URL(`${addressOf(request)}/auth/callback`)
        callback.search = URL.parse(request.url, callback.href)?.search ?? ''
        const { session } = request.authentication.presented
        const ended = await signIn.finish(cookies.signInOf(request), callback, session)
        cookies.take(request, reply, 'sign-in')
        if (ended.kind === 'failed') return fail(reply, ended.reason, ended.back)
        cookies.setSession(request, reply, ended.sessionId)
        return reply.redirect(ended.returnPath)
      },
    )

    app.post(
      '/auth/logout',
      {
        schema: {
          tags,
          operationId: 'signOut',
          summary: 'Sign out',
          description: `Needs the header \`${csrfHeader}: 1\`. The browser then goes to \`location\`.`,
          security: [{ session: [], csrf: [] }],
          response: { 200: SignedOut, 403: ErrorReply, 503: ErrorReply },
        },
      },
      async (request, reply) => {
        const { session: id } = request.authentication.presented
        const wasSignedIn = id !== undefined && (await sessions.find(id)) !== undefined
        if (id !== undefined) await sessions.end(id)
        cookies.take(request, reply, 'session') // last, so that a sign-out that failed can be repeated
        const elsewhere = wasSignedIn ? await provider.signOutUrl(`${addressOf(request)}/`) : undefined
        return { location: elsewhere?.href ?? '/' }
      },
    )
  }
