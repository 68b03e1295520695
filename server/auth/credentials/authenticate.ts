import { canonicalName } from '../../../contract/application-name.ts'
import type { RequestOrigin } from '../../http/limits/client-address.ts'
import { isSameSecret } from '../../secrets/secret-digest.ts'
import { UnauthorizedError } from '../access/auth-errors.ts'
import { anonymous, type Principal, type Principals } from '../access/principal.ts'
import { scopeOfClaim } from '../access/scope.ts'
import type { AuthSettings } from './auth-settings.ts'
import { type JwtClaims, verifyJwt } from './jwt.ts'
import { idTokenAlgorithms, isJwt, readHeader } from './jwt-parts.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

export type Verified = { readonly kind: 'verified'; readonly principal: Principal }
/** `expired`: whom it stood for, where its time is over and nothing else is wrong with it. */
type Refused = { readonly kind: 'refused'; readonly reason: string; readonly expired?: Principal }
/** `confirm` asks the identity provider; absent where it was asked already, or has nothing to say. */
type Confirmable = Verified & { readonly confirm?: () => Promise<AuthResult> }
export type AuthResult = Confirmable | Refused

/** Credentials that only the identity provider or the database can verify. */
export type Authenticators = {
  /** Of a token that begins with {@link scopedTokenPrefix}. */
  readonly scopedToken: (token: string) => Promise<AuthResult>
  /** Of a token that is signed with a key pair, as the ID tokens of CIs are. */
  readonly idToken: (token: string) => Promise<AuthResult>
  /** Undefined without an identity provider, as is the next. */
  readonly accessToken?: (token: string, client: RequestOrigin) => Promise<AuthResult>
  /** A session that is looked at is not prolonged. */
  readonly session?: (id: string, purpose: 'use' | 'peek') => Promise<AuthResult>
}

/** The credentials of one request. Each is verified once, however often it is asked who calls. */
export type Authentication = {
  readonly presented: PresentedCredentials
  /** Who calls, for reading. Rejects with an {@link UnauthorizedError} for a bad credential, as does the next. */
  readonly verified: () => Promise<Principals>
  /** Who calls, also by the identity provider's word, for a change. */
  readonly confirmed: () => Promise<Principals>
}

declare module 'fastify' {
  interface FastifyRequest {
    authentication: Authentication
  }
}

/** What a scoped deploy token begins with, unlike any JWT. */
export const scopedTokenPrefix = 'dwt_'

/**
 * Says who calls. One bad credential refuses the request, also beside a good one (spec 5.3), and what is looked at
 * first is fixed, so the same request always gets the same answer. Of several good ones that in `Authorization` speaks: it
 * may be limited; then the user, then the deploy token.
 */
export const createAuthenticate =
  (settings: AuthSettings, authenticators: Authenticators, nowSeconds: () => number) =>
  (presented: PresentedCredentials, client: RequestOrigin, purpose: 'use' | 'peek' = 'use'): Authentication => {
    const { authorization, accessToken, deployTokens, session } = presented

    const verify = once(async () => {
      const judgements = [
        () => checkForm(presented, settings),
        () => (authorization.kind === 'token' ? verifyToken(authorization.token) : undefined),
        () => (accessToken.kind === 'token' ? verifyAccess(accessToken.token) : undefined),
        () => (session === undefined ? undefined : verifySession(session)),
      ]
      const good: Confirmable[] = []
      for (const judge of judgements) {
        const judgement = await judge()
        if (judgement?.kind === 'refused') throw new UnauthorizedError(judgement.reason, judgement.expired)
        if (judgement) good.push(judgement)
      }
      if (deployTokens.length > 0) good.push({ kind: 'verified', principal: { kind: 'deploy_token', scope: 'all' } })
      return good
    })

    return {
      presented,
      verified: async () => principalsOf((await verify()).map(({ principal }) => principal)),
      confirmed: once(async () => {
        const confirmed: Principal[] = []
        for (const judgement of await verify()) {
          const answer = judgement.confirm ? await judgement.confirm() : judgement
          if (answer.kind === 'refused') throw new UnauthorizedError(answer.reason)
          confirmed.push(answer.principal)
        }
        return principalsOf(confirmed)
      }),
    }

    async function verifyToken(token: string): Promise<AuthResult> {
      if (token.startsWith(scopedTokenPrefix)) return authenticators.scopedToken(token)
      if (isJwt(token) && idTokenAlgorithms.includes(String(readHeader(token)?.alg)))
        return authenticators.idToken(token)
      const secret = settings.jwtSecret?.()
      if (!secret) return rejected('a JWT was given, but JWT_SECRET is not set in this service')
      const previous = settings.jwtSecretPrevious?.()
      const judgement = await verifyJwt(token, {
        secrets: previous ? [secret, previous] : [secret],
        issuer: settings.jwtIssuer,
        audience: settings.jwtAudience,
        nowSeconds: nowSeconds(),
      })
      const principalOf = ({ subject, allowedApps }: JwtClaims): Principal => {
        const names = allowedApps?.map((app) => canonicalName(app, settings.controlPlaneNamespace)) ?? []
        return { kind: 'jwt', subject, scope: scopeOfClaim(names), hasAppsClaim: allowedApps !== undefined }
      }
      if (judgement.kind === 'valid') return { kind: 'verified', principal: principalOf(judgement) }
      return rejected(judgement.reason, judgement.expired && principalOf(judgement.expired))
    }

    async function verifyAccess(token: string): Promise<AuthResult> {
      const judgement = authenticators.accessToken?.(token, client)
      return judgement ?? rejected('an access token was given, but IDP_ENABLED is not set in this service')
    }

    async function verifySession(id: string): Promise<AuthResult> {
      const judgement = authenticators.session?.(id, purpose)
      return judgement ?? rejected('a session was given, but IDP_ENABLED is not set in this service')
    }
  }

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

const principalsOf = ([principal = anonymous, ...others]: readonly Principal[]): Principals => ({ principal, others })

/** Checks what needs no asking: the form of the credentials, and the deploy token. */
function checkForm(presented: PresentedCredentials, settings: AuthSettings): Refused | undefined {
  const { authorization, accessToken, isDeployTokenInQuery, deployTokens } = presented
  for (const one of [authorization, accessToken]) if (one.kind === 'malformed') return rejected(one.rule)
  if (isDeployTokenInQuery && !settings.isDeployTokenTakenFromQuery)
    return rejected('the deploy token is not accepted in the query: send it in the header WATCHER_DEPLOY_TOKEN')
  if (deployTokens.length === 0) return undefined
  const expected = settings.deployToken?.()
  if (!expected) return rejected('a deploy token was given, but WATCHER_DEPLOY_TOKEN is not set in this service')
  if (deployTokens.includes('')) return rejected('the deploy token is empty')
  const allMatch = deployTokens.map((token) => isSameSecret(token, expected)).every(Boolean)
  return allMatch ? undefined : rejected('the deploy token does not match WATCHER_DEPLOY_TOKEN')
}

export function rejected(rule: string, expired?: Principal): Refused {
  return { kind: 'refused', reason: `credential rejected: ${rule}`, ...(expired === undefined ? {} : { expired }) }
}
