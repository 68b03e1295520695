export type ClaimRules = {
  readonly issuer: string | undefined
  readonly audience: string | undefined
  readonly nowSeconds: number
}

type Claims = Readonly<Record<string, unknown>>

/** Clocks of the token's maker and ours may differ that much. Where JWT_SECRET signs, `exp` gets no such allowance. */
export const leewaySeconds = 5

/** The last second a JavaScript date can name. */
const latestSecond = 8_640_000_000_000

/** Says what is wrong with the claims of a JWT, naming the claim, or nothing (spec 2.5). */
export function validateClaims(claims: Claims, rules: ClaimRules): string | undefined {
  return (
    timeFault(claims, rules.nowSeconds, { exp: 0, notYet: leewaySeconds }) ??
    issuerFault(claims.iss, rules.issuer) ??
    audienceFault(claims.aud, rules.audience)
  )
}

/** What is wrong with the times of a JWT, naming the claim, or nothing. `skew`: by how many seconds clocks may differ. */
export function timeFault(
  { exp, iat, nbf }: Claims,
  nowSeconds: number,
  skew: { readonly exp: number; readonly notYet: number },
): string | undefined {
  return (
    expFault(exp, nowSeconds - skew.exp) ??
    notYetFault('iat', iat, nowSeconds + skew.notYet) ??
    notYetFault('nbf', nbf, nowSeconds + skew.notYet)
  )
}

/** Whether a JWT would be good at the time at which it expired. */
export function isOnlyExpired(claims: Claims, rules: ClaimRules): boolean {
  const { exp } = claims
  if (!isTime(exp) || exp > rules.nowSeconds) return false
  return validateClaims({ ...claims, exp: rules.nowSeconds + 1 }, rules) === undefined
}

function expFault(exp: unknown, nowSeconds: number): string | undefined {
  if (exp === undefined) return 'exp is missing: a JWT needs an expiry time'
  if (!isTime(exp)) return 'exp must be a number of seconds since 1970'
  return exp <= nowSeconds ? `exp is in the past: the JWT expired at ${shown(exp)}` : undefined
}

function notYetFault(claim: 'iat' | 'nbf', value: unknown, nowSeconds: number): string | undefined {
  if (value === undefined) return undefined
  if (!isTime(value)) return `${claim} must be a number of seconds since 1970`
  return value > nowSeconds ? `${claim} is in the future: ${shown(value)}` : undefined
}

function issuerFault(iss: unknown, expected: string | undefined): string | undefined {
  return expected === undefined || iss === expected ? undefined : 'iss does not match JWT_ISSUER'
}

function audienceFault(aud: unknown, expected: string | undefined): string | undefined {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return expected === undefined || named.includes(expected) ? undefined : 'aud does not match JWT_AUDIENCE'
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= latestSecond
}

function shown(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
