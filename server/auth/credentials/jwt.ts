import { compactVerify, errors } from 'jose'
import { isStorable } from '../sign-in/user-of-claims.ts'
import { headerFault, hmacAlgorithms, parseClaims } from './jwt-parts.ts'
import { type ClaimRules, isOnlyExpired, validateClaims } from './validate-claims.ts'

/** What a JWT says of its bearer. */
export type JwtClaims = {
  readonly subject: string | undefined
  readonly allowedApps: readonly string[] | undefined
}

/** `expired`: its claims, where its time is over and nothing else is wrong with it. */
type JwtResult =
  | ({ readonly kind: 'valid' } & JwtClaims)
  | { readonly kind: 'invalid'; readonly reason: string; readonly expired?: JwtClaims }

/** `secrets` are tried in order; each is used as the bytes of its UTF-8 text. */
type JwtRules = ClaimRules & { readonly secrets: readonly string[] }

/** Checks signature and claims of a JWT (spec 2.5). The reason of a refusal names the claim or the rule, never a value. */
export async function verifyJwt(token: string, rules: JwtRules): Promise<JwtResult> {
  const fault = headerFault(token, hmacAlgorithms)
  if (fault !== undefined) return { kind: 'invalid', reason: fault }
  for (const secret of rules.secrets) {
    const payload = await verifiedPayload(token, secret)
    if (payload !== undefined) return validatePayload(payload, rules)
  }
  return { kind: 'invalid', reason: 'the signature of the JWT does not match JWT_SECRET' }
}

async function verifiedPayload(token: string, secret: string): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, new TextEncoder().encode(secret), { algorithms: hmacAlgorithms })).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

function validatePayload(payload: Uint8Array, rules: ClaimRules): JwtResult {
  const claims = parseClaims(payload)
  if (claims === undefined) return { kind: 'invalid', reason: 'the payload of the JWT is not a JSON object' }
  const reason = validateClaims(claims, rules)
  if (reason !== undefined && !isOnlyExpired(claims, rules)) return { kind: 'invalid', reason }
  const { sub, allowed_apps: apps } = claims
  if (typeof sub === 'string' && !isStorable(sub))
    return { kind: 'invalid', reason: 'sub of the JWT holds NUL or a lone surrogate' }
  const bearer: JwtClaims = {
    subject: typeof sub === 'string' ? sub : undefined,
    allowedApps: isListOfStrings(apps) ? apps : undefined,
  }
  return reason === undefined ? { kind: 'valid', ...bearer } : { kind: 'invalid', reason, expired: bearer }
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
