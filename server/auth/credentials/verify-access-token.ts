import { errors, jwtVerify } from 'jose'
import type { User } from '../access/principal.ts'
import { InvalidUserError, userOfClaims } from '../sign-in/user-of-claims.ts'
import type { ProviderKeys } from './provider-keys.ts'
import { leewaySeconds } from './validate-claims.ts'

export type AccessTokenJudgement =
  | {
      readonly kind: 'user'
      readonly user: User
      /**
       * Whether the provider's userinfo takes this token (OpenID Connect Core 5.3), so that it may be asked about it. Where
       * the claims do not tell an access token from an ID token, only its answer does.
       */
      readonly userInfo: 'asked' | 'asked always' | 'refuses'
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly expired?: User }

type Rules = {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly keys: ProviderKeys
  readonly nowSeconds: number
}

/** Asymmetric ones only: a shared secret could make tokens itself. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/**
 * Checks an access token that is a JWT: signature, issuer, times, and that it was issued to us or for us.
 * @throws {IdentityProviderUnavailableError} if the provider's keys are not known and cannot be fetched
 */
export async function verifyAccessToken(token: string, rules: Rules): Promise<AccessTokenJudgement> {
  try {
    const { payload } = await jwtVerify(token, rules.keys, {
      algorithms,
      issuer: rules.issuer,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: leewaySeconds,
      currentDate: new Date(rules.nowSeconds * 1000),
    })
    const fault = claimFault(payload, rules)
    if (fault !== undefined) return { kind: 'refused', reason: fault }
    return { kind: 'user', user: userOfClaims(String(payload.sub), payload), userInfo: userInfoOf(payload) }
  } catch (error) {
    if (error instanceof errors.JOSEError) {
      if (!(error instanceof errors.JWTExpired) || claimFault(error.payload, rules) !== undefined)
        return { kind: 'refused', reason: reasonOf(error) }
      const { sub } = error.payload
      return { kind: 'refused', reason: reasonOf(error), expired: userOfClaims(String(sub), error.payload) }
    }
    if (error instanceof InvalidUserError) return { kind: 'refused', reason: `${error.message} in the access token` }
    throw error
  }
}

function claimFault(claims: Readonly<Record<string, unknown>>, { audiences, nowSeconds }: Rules): string | undefined {
  if (typeof claims.sub !== 'string' || claims.sub === '') return 'sub of the access token must be a string'
  if (typeof claims.iat === 'number' && claims.iat > nowSeconds + leewaySeconds)
    return 'iat of the access token is in the future'
  if (isIdToken(claims)) return 'ID tokens are not accepted'
  const named = [claims.aud, claims.azp, claims.client_id].flat()
  if (named.some((name) => typeof name === 'string' && audiences.includes(name))) return undefined
  return 'the access token was issued for another client'
}

/** An ID token says who its user is; it gives no right to call us. */
const isIdToken = (claims: Readonly<Record<string, unknown>>) =>
  claims.typ === 'ID' || 'c_hash' in claims || ('at_hash' in claims && hasScopes(claims))

/**
 * An ID token of the code flow may show it by `at_hash` or `nonce` alone. The access tokens of some providers have a `nonce`
 * too, beside what only these have; those of Dex have both, and no scopes (newAccessToken in its server/oauth2.go).
 */
const mayBeIdToken = (claims: Readonly<Record<string, unknown>>) =>
  'at_hash' in claims ||
  ('nonce' in claims && claims.typ !== 'Bearer' && !('client_id' in claims) && scopesOf(claims).length === 0)

function userInfoOf(claims: Readonly<Record<string, unknown>>): 'asked' | 'asked always' | 'refuses' {
  if (mayBeIdToken(claims)) return 'asked always'
  return !hasScopes(claims) || scopesOf(claims).includes('openid') ? 'asked' : 'refuses'
}

const hasScopes = ({ scope, scp }: Readonly<Record<string, unknown>>) => scope !== undefined || scp !== undefined

/** `scope` is one text (RFC 9068); some providers say `scp`, as a text or a list. */
const scopesOf = ({ scope, scp }: Readonly<Record<string, unknown>>): readonly string[] =>
  [scope, scp].flat().flatMap((one) => (typeof one === 'string' ? one.split(' ') : []))

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the access token has expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `${error.claim} of the access token is wrong or missing`
  if (error instanceof errors.JOSEAlgNotAllowed) return 'alg of the access token is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey) return 'the access token is not signed with a key of the provider'
  return 'the access token is not a valid JWT of the provider'
}
