import { isJwt, readClaims } from '../credentials/jwt-parts.ts'
import type { CiRule } from './ci-rule.ts'
import { isForAudienceAlone, mismatchesOf, textOf } from './match-rule.ts'

type Explanation = { readonly lines: readonly string[]; readonly isAccepted: boolean }

/**
 * Says which rules hold for an ID token, and what keeps each of the others from it. The signature is not verified: the keys
 * of the issuer are not asked for.
 */
export function explainToken(token: string, rules: readonly CiRule[], nowSeconds: number): Explanation {
  const claims = isJwt(token) ? readClaims(token) : undefined
  if (claims === undefined) return { lines: ['this is not a JWT'], isAccepted: false }
  const exp = Number(textOf(claims, 'exp'))
  const state = exp > nowSeconds ? 'valid until' : 'expired at'
  const judged = rules.map((rule) => ({ rule, fault: faultOf(rule) }))
  return {
    lines: [
      `issuer: ${textOf(claims, 'iss') ?? 'none'}`,
      `time: ${Number.isFinite(exp) ? `${state} ${new Date(exp * 1000).toISOString()}` : 'exp is missing'}`,
      'claims:',
      ...Object.entries(claims).map(([claim, value]) => `  ${claim}: ${JSON.stringify(value)}`),
      'rules:',
      ...judged.map(({ rule, fault }) => `  ${rule.name}: ${fault ?? `holds, for ${appsText(rule)}`}`),
      ...(rules.length === 0 ? ['  none'] : []),
      'The signature was not verified.',
    ],
    isAccepted: judged.some(({ fault }) => fault === undefined) && exp > nowSeconds,
  }

  function faultOf(rule: CiRule): string | undefined {
    if (claims?.iss !== rule.issuer) return `is for the issuer ${rule.issuer}`
    if (!isForAudienceAlone(claims.aud, rule.audience))
      return `aud is ${JSON.stringify(claims.aud)}, must be ${rule.audience} alone`
    return mismatchesOf(claims, rule)[0]?.text
  }
}

const appsText = ({ apps }: CiRule) => (apps === 'all' ? 'all applications' : apps.join(', '))
