import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Actor } from '../audit/record-action.ts'
import type { Client } from '../http/client-address.ts'
import { createRateLimit } from '../http/rate-limit.ts'
import type { Database } from '../storage/database.ts'
import { ForbiddenError, UnauthorizedError } from './access/auth-errors.ts'
import { authorizeApplication, isInScope, privilegeFault } from './access/authorize.ts'
import { actorOf, type Principal } from './access/principal.ts'
import { addReadGuard, readerOf } from './access/read-guard.ts'
import { mayRead, readerDigest } from './access/reader.ts'
import type { AuthSettings } from './credentials/auth-settings.ts'
import type { Authenticators } from './credentials/authenticate.ts'
import { createIdentifyCaller } from './credentials/identify-caller.ts'
import { createUserJudges } from './credentials/judge-users.ts'
import { readPresentedCredentials } from './credentials/presented-credentials.ts'
import { createProviderKeys } from './credentials/provider-keys.ts'
import { isOnThisMachine } from './sign-in/browser-address.ts'
import { createBrowserCookies, sessionIn } from './sign-in/browser-cookies.ts'
import { createCheckSession } from './sign-in/check-session.ts'
import { createIdentityProvider } from './sign-in/identity-provider.ts'
import type { IdentityProviderSettings } from './sign-in/identity-provider-settings.ts'
import { sessionRoutes } from './sign-in/session-routes.ts'
import { createSessionStore } from './sign-in/session-store.ts'
import { createSignIn, type SignInLog } from './sign-in/sign-in.ts'
import { signInRoutes } from './sign-in/sign-in-routes.ts'
import { deployTokenRoutes } from './tokens/deploy-token-routes.ts'
import { createDeployTokenStore } from './tokens/deploy-token-store.ts'

type Dependencies = {
  readonly settings: AuthSettings
  readonly idp: IdentityProviderSettings | undefined
  readonly publicUrl: string | undefined
  readonly database: Database
  /** By which tokens expire and deadlines pass. */
  readonly wallMs: () => number
  /** By which things are remembered: it never goes back. */
  readonly monotonicMs: () => number
  readonly clientOf: (request: FastifyRequest) => Client
  readonly log: SignInLog
}

/** Each one that is begun is a row for ten minutes. A whole company may come from one address. */
const signInsPerMinute = 300

/** Everything that says who calls and what he may do, put together. */
export function openAuth({ settings, idp, publicUrl, database, wallMs, monotonicMs, clientOf, log }: Dependencies) {
  const deployTokens = createDeployTokenStore(database, settings.controlPlaneNamespace)
  const users = idp && openUsers(idp)
  const judges: Authenticators = {
    scopedToken: deployTokens.judge,
    accessToken: users?.judges.accessToken,
    session: users?.judges.session,
  }
  const nowSeconds = () => wallMs() / 1000
  const carrierOf = (request: FastifyRequest, session: string | undefined) => ({
    rawHeaders: request.raw.rawHeaders,
    url: request.raw.url,
    session,
    client: clientOf(request),
  })
  const identify = createIdentifyCaller(settings, judges, nowSeconds)
  const sessionIdOf = (request: FastifyRequest) => (users ? users.cookies.sessionOf(request) : sessionIn(request))

  const hasCredential = (request: FastifyRequest) =>
    sessionIdOf(request) !== undefined || credentialsOf(request).length > 0

  /** The user who calls, with the right to change something. Throws as below, also for a credential without a user. */
  const requireUser = async (request: FastifyRequest): Promise<Actor> => {
    const caller = await identify(carrierOf(request, sessionIdOf(request)), 'user')
    if (caller.kind !== 'session' && caller.kind !== 'oidc') {
      const fault = caller.kind === 'anonymous' ? 'no credential was given' : 'credential rejected: it is not a user'
      throw new UnauthorizedError(`${fault}: send an access token in the header Oidc-Authorization, or sign in`)
    }
    requirePrivilege(caller)
    return actorOf(caller)
  }

  const guardWith = (ofUsers: Partial<Authenticators> | undefined) => {
    const identifyReader = createIdentifyCaller(
      { ...settings, requireCredential: true },
      { ...judges, ...ofUsers },
      nowSeconds,
    )
    return {
      publicUrl,
      sessionIdOf,
      identify: (request: FastifyRequest) => identifyReader(carrierOf(request, sessionIdOf(request))),
      credentialsOf,
    }
  }
  const guard = guardWith(users?.judges.reading)
  const guardOfReadingOn = guardWith(users?.judges.streaming)

  return {
    requireUser,

    /** Whether a request may be shown a task. @throws {UnauthorizedError} where its credential is not good enough */
    mayRead: ({ reader }: FastifyRequest, task: Parameters<typeof mayRead>[1]) =>
      reader === undefined ? task !== undefined : mayRead(reader, task, wallMs()),

    /** Judges once more who reads, for what is read as long as it comes; the provider is not asked. Rejects as the first time. */
    async recheckReadAccess(request: FastifyRequest): Promise<void> {
      if (request.reader !== undefined) request.reader = await readerOf(request, guardOfReadingOn)
    },

    /** Whether a request shows anything that may turn out to be a good credential. */
    hasCredential,

    /** Whether a request that reads shows no credential, good or bad, though there is an identity provider. */
    isUnauthenticatedRead: (request: FastifyRequest) =>
      users !== undefined && request.reader === undefined && !hasCredential(request),

    /** Whether a request shows a good credential that may read this task, also where none is needed to read. */
    async mayReadPodLog(request: FastifyRequest, task: Parameters<typeof mayRead>[1]): Promise<boolean> {
      const reader = request.reader ?? (await readerOf(request, guard).catch(() => undefined))
      return reader !== undefined && reader.kind !== 'own_tasks' && mayRead(reader, task, wallMs())
    },

    /** What to store of the credential that submits a task, so that it may go on reading it. */
    readerDigestOf: (request: FastifyRequest) => (taskId: string) => {
      const [credential] = idp?.requireReadAuth ? credentialsOf(request) : []
      return credential === undefined ? undefined : readerDigest(taskId, credential)
    },

    /**
     * Who deploys or cancels.
     * @throws {UnauthorizedError} for a credential that is not good, or one that is needed and absent
     * @throws {ForbiddenError} for a user who may not
     */
    async identifyCaller(request: FastifyRequest, need?: 'credential'): Promise<Principal> {
      const caller = await identify(carrierOf(request, sessionIdOf(request)), need)
      requirePrivilege(caller)
      return caller
    },

    /** @throws {UnauthorizedError} where the caller's credential is not good for `app` */
    requireApplication(request: FastifyRequest, caller: Principal, app: string): void {
      const judgement = authorizeApplication(caller, app, settings.enforceAllowedApps)
      if (judgement.kind === 'refused') throw new UnauthorizedError(judgement.reason)
      if (judgement.note) request.log.warn({ req: request }, judgement.note)
    },

    /** Whether a caller may learn of tasks of `app`: where reading is closed, not outside of a token's scope. */
    canSeeTasksOf: (caller: Principal, app: string): boolean =>
      !idp?.requireReadAuth || caller.kind !== 'scoped_token' || isInScope(app, caller.apps),

    /** Adds the routes of signing in and of deploy tokens, as far as there is an identity provider, and closes reading. */
    addRoutes(http: FastifyInstance, api: { readonly prefix: string }) {
      if (!users || !idp) return void http.register(sessionRoutes(undefined), api)
      http.register(cookie)
      // A change with a cookie and without its header is refused for that, before its body is looked at.
      void http.after(() => http.addHook('onRequest', async (request) => void users.cookies.sessionOf(request)))
      if (idp.requireReadAuth) addReadGuard(http, api.prefix, guard)
      const signInLimit = createRateLimit(signInsPerMinute, monotonicMs)
      http.register(signInRoutes({ ...users, publicUrl, signInLimit, clientOf }))
      const sessionOf = async (request: FastifyRequest) => {
        const id = users.cookies.sessionOf(request)
        return id === undefined ? undefined : users.sessions.find(id)
      }
      http.register(sessionRoutes({ settings: idp, sessionOf }), api)
      http.register(deployTokenRoutes({ deployTokens, requireUser }), api)
    },
  }

  function credentialsOf(request: FastifyRequest): readonly string[] {
    const { authorization, accessToken, deployTokens } = readPresentedCredentials(carrierOf(request, undefined))
    const tokens = [authorization, accessToken].flatMap((one) => (one.kind === 'token' ? [one.token] : []))
    return [...tokens, ...deployTokens]
  }

  function requirePrivilege(caller: Principal): void {
    if (caller.kind !== 'session' && caller.kind !== 'oidc') return
    const fault = privilegeFault(caller.user, idp?.privilegedGroups ?? [])
    if (fault !== undefined) throw new ForbiddenError(fault)
  }

  function openUsers(provided: IdentityProviderSettings) {
    const provider = createIdentityProvider(provided, monotonicMs)
    const sessions = createSessionStore(database)
    const keysUrl = async () => {
      const { jwks_uri: url } = await provider.metadata()
      if (url === undefined) throw new Error('the identity provider names no keys')
      return url
    }
    const isHttpAllowed = provided.allowHttpIssuer || isOnThisMachine(provided.issuerUrl)
    const keys = createProviderKeys({ keysUrl, isHttpAllowed, nowMs: monotonicMs })
    const checkSession = createCheckSession({
      sessions,
      provider,
      areGroupsNeeded: provided.privilegedGroups.length > 0,
    })
    return {
      provider,
      sessions,
      signIn: createSignIn({ provider, sessions, log }),
      cookies: createBrowserCookies(publicUrl),
      judges: createUserJudges({ settings: provided, provider, keys, sessions, checkSession, wallMs, monotonicMs }),
    }
  }
}
