import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../http/limits/client-address.ts'
import { createRateLimit } from '../http/limits/rate-limit.ts'
import { HttpError } from '../http/request-errors.ts'
import { isReadMethod } from '../http/server/request-rules.ts'
import type { Database } from '../storage/database.ts'
import { ForbiddenError, UnauthorizedError } from './access/auth-errors.ts'
import { createAuthorize } from './access/authorize.ts'
import { actorOf, type Principal, type User } from './access/principal.ts'
import { isOwnTask, mayRead, type ReadAccess, type ReadableTask, readerDigest } from './access/read-access.ts'
import type { CiRule } from './ci/ci-rule.ts'
import { createIssuerKeys } from './ci/issuer-keys.ts'
import { createVerifyIdToken } from './ci/verify-id-token.ts'
import type { AuthSettings } from './credentials/auth-settings.ts'
import { createAuthenticate } from './credentials/authenticate.ts'
import { readPresentedCredentials } from './credentials/presented-credentials.ts'
import { createProviderKeys } from './credentials/provider-keys.ts'
import { createUserAuthenticators } from './credentials/user-authenticators.ts'
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
  /** `ci_identities` of the configuration file, as they are now. */
  readonly ciRules: () => readonly CiRule[]
  readonly publicUrl: string | undefined
  readonly database: Database
  /** By which tokens expire and deadlines pass. */
  readonly wallMs: () => number
  /** By which things are remembered: it never goes back. */
  readonly monotonicMs: () => number
  readonly originOf: (request: FastifyRequest) => RequestOrigin
  readonly log: SignInLog
}

/** Each one that is begun is a row for ten minutes. A whole company may come from one address. */
const signInsPerMinute = 300

/** Everything that says who calls and what they may do, put together. */
export function openAuth(dependencies: Dependencies) {
  const { settings, idp, ciRules, publicUrl, database, wallMs, monotonicMs, originOf, log } = dependencies
  const deployTokens = createDeployTokenStore(database, settings.controlPlaneNamespace)
  const users = idp && openUsers(idp)
  const nowSeconds = () => wallMs() / 1000
  const { controlPlaneNamespace } = settings
  const keysOf = createIssuerKeys(monotonicMs)
  const idToken = createVerifyIdToken({ rules: ciRules, keysOf, nowSeconds, controlPlaneNamespace })
  const authenticators = { scopedToken: deployTokens.verify, idToken, ...users?.authenticators }
  const authenticate = createAuthenticate(settings, authenticators, nowSeconds)
  const authorize = createAuthorize({
    ...settings,
    privilegedGroups: idp?.privilegedGroups ?? [],
    isReadingClosed: idp?.requireReadAuth ?? false,
    hasUsers: users !== undefined,
  })

  const hasCredential = ({ authentication: { presented } }: FastifyRequest) =>
    presented.session !== undefined || presented.tokens.length > 0

  /**
   * Who changes something. A user who is among those whose credentials were presented administers.
   * @throws {UnauthorizedError} for a credential that is not good, or not good for `app`, or one that is needed and absent
   * @throws {ForbiddenError} for a user who may not
   */
  const requireAccess = async (
    request: FastifyRequest,
    action: 'submit' | 'cancel' | 'administer',
    app?: string,
  ): Promise<Principal> => {
    const { principal, others } = await request.authentication.confirmed()
    const user = action === 'administer' ? others.find((other) => 'user' in other) : undefined
    const decision = authorize(user ?? principal, action, app)
    if (decision.kind !== 'allowed')
      throw new (decision.kind === 'forbidden' ? ForbiddenError : UnauthorizedError)(decision.reason)
    if (decision.note) request.log.warn({ req: request }, decision.note)
    return user ?? principal
  }
  const requireUser = async (request: FastifyRequest) => actorOf(await requireAccess(request, 'administer'))

  /** Who reads. No page of another site does with its visitor's session. */
  const readerOf = async ({ authentication, isForeignOrigin }: FastifyRequest): Promise<Principal> => {
    if (authentication.presented.session !== undefined && isForeignOrigin)
      throw new HttpError(403, 'cross-origin request rejected')
    return (await authentication.verified()).principal
  }

  const requireReadAccess = async (request: FastifyRequest): Promise<ReadAccess> => {
    const { isReadableInScope, isReadableByOwner } = request.routeOptions.config
    try {
      const principal = await readerOf(request)
      const decision = authorize(principal, isReadableInScope ? 'read' : 'read_all')
      if (decision.kind !== 'allowed') throw new UnauthorizedError(decision.reason)
      return { kind: 'principal', principal }
    } catch (error) {
      const { tokens } = request.authentication.presented
      if (error instanceof UnauthorizedError && error.expired !== undefined && isReadableByOwner && tokens.length > 0)
        return { kind: 'own_tasks', credentials: tokens, refusal: error.message }
      throw error
    }
  }

  return {
    requireAccess,
    requireUser,

    /** Who submitted a task with the credential of this request, which has only expired since; undefined for all others. */
    async expiredSubmitterOf(request: FastifyRequest, task: ReadableTask | undefined): Promise<Principal | undefined> {
      const error = await request.authentication.verified().catch((reason: unknown) => reason)
      if (!(error instanceof UnauthorizedError) || error.expired === undefined || task === undefined) return undefined
      if (!isOwnTask(request.authentication.presented.tokens, task, wallMs())) return undefined
      return authorize(error.expired, 'cancel', task.app).kind === 'allowed' ? error.expired : undefined
    },

    /** Whether a request shows a credential that may submit something. */
    async hasValidCredential(request: FastifyRequest): Promise<boolean> {
      if (!hasCredential(request)) return false
      const principal = await requireAccess(request, 'submit').catch(() => undefined)
      return principal !== undefined && principal.kind !== 'anonymous'
    },

    /** Whether reading needs no credential. */
    isReadingOpen: idp?.requireReadAuth !== true,

    /** Whether a request may be shown a task. @throws {UnauthorizedError} where its credential is not good enough */
    mayRead: ({ readAccess }: FastifyRequest, task: Parameters<typeof mayRead>[1]) =>
      readAccess === undefined ? task !== undefined : mayRead(readAccess, task, wallMs(), authorize),

    /** Whether a request that may read is shown what belongs to an application; undefined: it is unknown to which. */
    canSeeTasksOf({ readAccess }: FastifyRequest, app: string | undefined): boolean {
      if (readAccess === undefined) return true
      if (readAccess.kind !== 'principal') return false
      return authorize(readAccess.principal, app === undefined ? 'read_all' : 'read', app).kind === 'allowed'
    },

    /** Whether the credential of a request is good and may read tasks of `app`, or what only such a one is shown. */
    async isAllowed(
      request: FastifyRequest,
      action: 'read' | 'read_private' | 'read_service',
      app?: string,
    ): Promise<boolean> {
      const principal = await readerOf(request).catch(() => undefined)
      return principal !== undefined && authorize(principal, action, app).kind === 'allowed'
    },

    /**
     * Rejects unless the credential of a request may read what concerns those who run the service, also where reading is open.
     * @throws {UnauthorizedError}
     * @throws {ForbiddenError} for a user outside the privileged groups
     */
    async requireServiceReader(request: FastifyRequest): Promise<void> {
      const decision = authorize(await readerOf(request), 'read_service')
      if (decision.kind !== 'allowed')
        throw new (decision.kind === 'forbidden' ? ForbiddenError : UnauthorizedError)(decision.reason)
    },

    /** Verifies the reader of an open stream again, without counting as use of the session. Rejects as the first time. */
    async recheckReadAccess(request: FastifyRequest): Promise<void> {
      if (request.readAccess === undefined) return
      request.authentication = authenticate(request.authentication.presented, originOf(request), 'peek')
      request.readAccess = await requireReadAccess(request)
    },

    /** Whether a request that reads shows no credential, good or bad, though there is an identity provider. */
    isUnauthenticatedRead: (request: FastifyRequest) =>
      users !== undefined && request.readAccess === undefined && !hasCredential(request),

    /** What to store of the credential that submits a task, so that it may go on reading it. */
    readerDigestOf: (request: FastifyRequest) => (taskId: string) => {
      const { tokens, deployTokens } = request.authentication.presented
      // A static deploy token does not expire, and a weak one could be guessed from its digest.
      const credential = tokens.find((token) => !deployTokens.includes(token))
      return credential === undefined ? undefined : readerDigest(taskId, credential)
    },

    /** Reads each request's credentials, closes reading, and adds the routes of an identity provider where there is one. */
    addRoutes(http: FastifyInstance, api: { readonly prefix: string }) {
      if (users) http.register(cookie)
      // A change with a cookie and without its header is refused for that, before its body is looked at.
      const readCredentials = async (request: FastifyRequest) => {
        const session = users ? users.cookies.sessionOf(request) : sessionIn(request)
        request.authentication = authenticate(readPresentedCredentials(request.raw, session), originOf(request))
      }
      void http.after(() => http.addHook('onRequest', readCredentials))
      if (!users || !idp) return void http.register(sessionRoutes(undefined), api)
      // After onRequest, which reads the credentials.
      http.addHook('preParsing', async (request) => {
        const { url, config } = request.routeOptions
        const isClosed = idp.requireReadAuth && !config.isAlwaysReadable && url?.startsWith(`${api.prefix}/`)
        if (isClosed && isReadMethod(request.method)) request.readAccess = await requireReadAccess(request)
      })
      const signInLimit = createRateLimit(signInsPerMinute, monotonicMs)
      http.register(signInRoutes({ ...users, publicUrl, signInLimit, originOf }))
      const isPrivileged = (user: User) =>
        authorize({ kind: 'session', user, scope: 'all' }, 'administer').kind === 'allowed'
      http.register(sessionRoutes({ settings: idp, sessions: users.sessions, isPrivileged }), api)
      http.register(deployTokenRoutes({ deployTokens, requireUser }), api)
    },
  }

  function openUsers(provided: IdentityProviderSettings) {
    const provider = createIdentityProvider(provided, monotonicMs)
    const sessions = createSessionStore(database)
    const keysUrl = async () => {
      const { jwks_uri: url } = await provider.metadata()
      if (url === undefined) throw new Error('the identity provider metadata has no jwks_uri')
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
      authenticators: createUserAuthenticators({
        settings: provided,
        provider,
        keys,
        sessions,
        checkSession,
        wallMs,
        monotonicMs,
      }),
    }
  }
}
