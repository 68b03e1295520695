import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { RequestOrigin } from '../../http/limits/client-address.ts'
import { createClientQuota } from '../../http/limits/client-quota.ts'
import { createRateLimit } from '../../http/limits/rate-limit.ts'
import { HttpError } from '../../http/request-errors.ts'
import type { User } from '../access/principal.ts'
import type { CheckSession } from '../sign-in/check-session.ts'
import type { IdentityProvider } from '../sign-in/identity-provider.ts'
import type { IdentityProviderSettings } from '../sign-in/identity-provider-settings.ts'
import type { SessionStore } from '../sign-in/session-store.ts'
import { InvalidUserError } from '../sign-in/user-of-claims.ts'
import { type Authenticators, type AuthResult, rejected, type Verified } from './authenticate.ts'
import { isJwt } from './jwt-parts.ts'
import type { ProviderKeys } from './provider-keys.ts'
import { verifyAccessToken } from './verify-access-token.ts'

type Dependencies = {
  readonly settings: Pick<IdentityProviderSettings, 'audiences'>
  readonly provider: Pick<IdentityProvider, 'metadata' | 'userOf'>
  readonly keys: ProviderKeys
  readonly sessions: Pick<SessionStore, 'find'>
  readonly checkSession: CheckSession
  readonly wallMs: () => number
  /** Never goes back. */
  readonly monotonicMs: () => number
}

const rememberedMs = 60_000
/** A bad token that is sent repeatedly is not looked up each time. */
const refusalRememberedMs = 10_000
const maxRemembered = 1_000
/** For one address: lookups of invented tokens must not exhaust the provider. */
const maxUnknownAtOnce = 10
const maxUnknownPerMinute = 60

type UserAuthenticators = { readonly [Kind in 'accessToken' | 'session']: NonNullable<Authenticators[Kind]> }

/**
 * Verifies the credentials that the identity provider stands behind. It is asked about what cannot be verified here; the
 * rest it confirms, by its answer of the last minute, so that reading survives its outage.
 */
export function createUserAuthenticators(dependencies: Dependencies): UserAuthenticators {
  const { settings, provider, keys, sessions, checkSession, wallMs, monotonicMs } = dependencies
  const byMonotonicTime = { perf: { now: monotonicMs }, ttlResolution: 0 }
  const accepted = new LRUCache<string, AuthResult>({
    max: maxRemembered,
    ttl: rememberedMs,
    ...byMonotonicTime,
  })
  /** Bad tokens cost a caller nothing, so they have a place of their own. */
  const refused = new LRUCache<string, AuthResult>({
    max: maxRemembered / 2,
    ttl: refusalRememberedMs,
    ...byMonotonicTime,
  })
  /** Tokens that the provider accepted when it was asked last. */
  const wasGood = new LRUCache<string, true>({ max: maxRemembered })
  const unknownAtOnce = createClientQuota(maxUnknownAtOnce, Number.POSITIVE_INFINITY)
  const unknownPerMinute = createRateLimit(maxUnknownPerMinute, monotonicMs)

  return {
    async accessToken(token, client) {
      if (!isJwt(token)) return askAbout(token, client) // for the provider alone to judge
      const { issuer } = await provider.metadata()
      const rules = { issuer, audiences: settings.audiences, keys, nowSeconds: wallMs() / 1000 }
      const judgement = await verifyAccessToken(token, rules)
      if (judgement.kind === 'refused')
        return rejected(judgement.reason, judgement.expired && verified('oidc', judgement.expired).principal)
      const { user, userInfo } = judgement
      if (userInfo === 'asked always') return noteIdToken(await askAbout(token, client, user))
      const confirm = async () => (userInfo === 'asked' ? askAbout(token, client, user) : rejected(notForUserInfo))
      return { ...verified('oidc', user), confirm }
    },

    async session(id, purpose) {
      const session = await sessions.find(id, purpose)
      if (!session) return expired
      const confirm = async () => {
        const user = await checkSession(session)
        return user ? verified('session', user) : expired
      }
      return { ...verified('session', session.user), confirm }
    },
  }

  /** `claimed`: the claims of a JWT whose signature by the provider is verified. */
  async function askAbout(token: string, client: RequestOrigin, claimed?: User): Promise<AuthResult> {
    const key = createHash('sha256').update(token).digest('base64')
    const known = accepted.get(key) ?? refused.get(key)
    if (known) return known
    const isKnown = claimed !== undefined || wasGood.has(key)
    const release = isKnown ? undefined : takePlace(client)
    const user = claimed && { subject: claimed.subject, claims: claimed }
    const answer = await provider.userOf(token, user).finally(release)
    if (answer.kind === 'refused') {
      const judgement = refusalOf(answer.cause)
      wasGood.delete(key)
      refused.set(key, judgement)
      return judgement
    }
    const judgement = verified('oidc', answer.user)
    wasGood.set(key, true)
    accepted.set(key, judgement)
    return judgement
  }

  /** @throws {HttpError} where a client shows too many tokens that are not known */
  function takePlace(client: RequestOrigin): () => void {
    const release = unknownAtOnce.acquire(client)
    const retryAfterSeconds = release ? unknownPerMinute.acquire(client) : 1
    if (release && retryAfterSeconds === undefined) return release
    release?.()
    throw new HttpError(429, 'too many unknown access tokens from one address', {
      'Retry-After': String(retryAfterSeconds),
    })
  }
}

/** Whether its user was removed since could not be found out before it expires (decision 0006). */
const notForUserInfo = 'the access token lacks the scope openid, which is required to verify its user'

const refusalOf = (cause: unknown) =>
  rejected(
    cause instanceof InvalidUserError
      ? `${cause.message} (from the identity provider)`
      : 'the identity provider does not accept the access token',
  )

/** What was refused may have been an ID token. */
const noteIdToken = (judgement: AuthResult) =>
  judgement.kind === 'refused' ? rejected(`${judgement.reason}; ID tokens are not accepted`) : judgement

const expired = rejected('the session has expired: sign in again')

const verified = (kind: 'oidc' | 'session', user: User): Verified => ({
  kind: 'verified',
  principal: { kind, user, scope: 'all' },
})
