import { errors, jwtVerify } from 'jose'
import type { User } from './caller.ts'
import { leewaySeconds } from './judge-claims.ts'
import type { ProviderKeys } from './provider-keys.ts'
import { InvalidUserError, userOfClaims } from './user-of-claims.ts'

export type AccessTokenJudgement =
  | {
      readonly kind: 'user'
      readonly user: User
      /** Whether the provider's userinfo takes this token (OpenID Connect Core 5.3), so that it may be asked about it. */
      readonly isForUserInfo: boolean
    }
  | { readonly kind: 'refused'; readonly reason: string }

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
export async function judgeAccessToken(token: string, rules: Rules): Promise<AccessTokenJudgement> {
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
    const isForUserInfo = scopesOf(payload).includes('openid')
    return { kind: 'user', user: userOfClaims(String(payload.sub), payload), isForUserInfo }
  } catch (error) {
    if (error instanceof errors.JOSEError) return { kind: 'refused', reason: reasonOf(error) }
    if (error instanceof InvalidUserError) return { kind: 'refused', reason: `${error.message} in the access token` }
    throw error
  }
}

function claimFault(claims: Readonly<Record<string, unknown>>, { audiences, nowSeconds }: Rules): string | undefined {
  if (typeof claims.sub !== 'string' || claims.sub === '') return 'sub of the access token must be a text'
  if (typeof claims.iat === 'number' && claims.iat > nowSeconds + leewaySeconds)
    return 'iat of the access token lies in the future'
  if (isIdToken(claims)) return 'an ID token is no access token'
  const named = [claims.aud, claims.azp, claims.client_id].flat()
  if (named.some((name) => typeof name === 'string' && audiences.includes(name))) return undefined
  return 'aud and azp of the access token name somebody else'
}

/**
 * An ID token says who somebody is; it gives no right to call us. One of the code flow may show it by its `nonce` alone, which
 * the access tokens of some providers have too, beside what only these have.
 */
function isIdToken(claims: Readonly<Record<string, unknown>>): boolean {
  if (claims.typ === 'ID' || 'at_hash' in claims || 'c_hash' in claims) return true
  const isForCalls = claims.typ === 'Bearer' || 'client_id' in claims || scopesOf(claims).length > 0
  return 'nonce' in claims && !isForCalls
}

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
