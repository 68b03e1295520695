import { compactVerify, errors } from 'jose'
import { echo } from '../../http/server/error-text.ts'
import type { CiPrincipal } from '../access/principal.ts'
import { type Scope, withCanonicalNames } from '../access/scope.ts'
import { type AuthResult, rejected } from '../credentials/authenticate.ts'
import { headerFault, idTokenAlgorithms, parseClaims, readClaims, readHeader } from '../credentials/jwt-parts.ts'
import { timeFault } from '../credentials/validate-claims.ts'
import { isStorable } from '../sign-in/user-of-claims.ts'
import type { CiRule } from './ci-rule.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { judgeClaims } from './judge-claims.ts'
import { type Claims, isForAudienceAlone, textOf } from './match-rule.ts'
import { runUrlOf, serverOf, sourceOfClaims } from './run-of-claims.ts'

type Dependencies = {
  /** `ci_identities` as they are now. */
  readonly rules: () => readonly CiRule[]
  readonly keysOf: IssuerKeys
  readonly nowSeconds: () => number
  /** ARGO_NAMESPACE */
  readonly controlPlaneNamespace: string
}

/** By how many seconds the clock of a CI may differ from ours. */
const skew = { exp: 30, notYet: 30 }
/** Of `sub`, which the audit holds. */
const maxSubjectLength = 1_000

/**
 * Verifies the ID token of a CI's job.
 * @throws {HttpError} 503 while it cannot be known whether its issuer has the key
 */
export const createVerifyIdToken =
  ({ rules, keysOf, nowSeconds, controlPlaneNamespace }: Dependencies) =>
  async (token: string): Promise<AuthResult> => {
    const fault = headerFault(token, idTokenAlgorithms)
    if (fault !== undefined) return rejected(fault)
    const issuer = textOf(readClaims(token) ?? {}, 'iss') ?? ''
    const ofIssuer = rules().filter((rule) => rule.issuer === issuer)
    if (ofIssuer.length === 0) return rejected(`unknown issuer: no rule of ci_identities is for ${echo(issuer)}`)
    if (typeof readHeader(token)?.kid !== 'string') return rejected('kid is missing in the header of the ID token')
    const claims = await verifiedClaims(token, keysOf(issuer))
    if (claims === undefined) return rejected('the ID token is not signed with a key of its issuer')
    const principal = principalOf(claims, ofIssuer, controlPlaneNamespace)
    if (typeof principal === 'string') return rejected(principal)
    const now = nowSeconds()
    const late = timeFault(claims, now, skew)
    if (late === undefined) return { kind: 'verified', principal }
    const isOnlyExpired =
      typeof claims.exp === 'number' && claims.exp < now && timeFault({ ...claims, exp: now }, now, skew) === undefined
    return rejected(late, isOnlyExpired ? principal : undefined)
  }

/** Undefined where the signature is not good. */
async function verifiedClaims(token: string, key: ReturnType<IssuerKeys>): Promise<Claims | undefined> {
  try {
    return parseClaims((await compactVerify(token, key, { algorithms: idTokenAlgorithms })).payload)
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/** Whom claims stand for, their times left out, or what is wrong with them. */
function principalOf(claims: Claims, ofIssuer: readonly CiRule[], namespace: string): CiPrincipal | string {
  const { iss, sub, aud } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength || !isStorable(sub))
    return `sub of the ID token must be a text of at most ${maxSubjectLength} characters`
  const ofAudience = ofIssuer.filter(({ audience }) => isForAudienceAlone(aud, audience))
  if (ofAudience.length === 0) return audienceFault(aud, ofIssuer)
  const judgement = judgeClaims(claims, ofAudience)
  if (judgement.kind === 'refused') return judgement.reason
  const rules = judgement.rules.map(({ name, apps }) => ({
    name,
    scope: apps === 'all' ? apps : withCanonicalNames(apps, namespace),
  }))
  return {
    kind: 'ci',
    issuer: String(iss),
    subject: sub,
    rules,
    scope: unionOf(rules.map(({ scope }) => scope)),
    runUrl: runUrlOf(claims),
    server: serverOf(claims),
    source: sourceOfClaims(claims),
  }
}

function audienceFault(aud: unknown, rules: readonly CiRule[]): string {
  const wanted = [...new Set(rules.map(({ audience }) => audience))]
  const given = [aud].flat().map((one) => echo(String(one)))
  return `aud is ${given.slice(0, 3).join(', ')}, must be ${wanted.length === 1 ? echo(wanted[0] ?? '') : 'the audience of a rule'} alone`
}

const unionOf = (scopes: readonly Scope[]): Scope =>
  scopes.some((scope) => scope === 'all') ? 'all' : [...new Set(scopes.flat())]
