import type { AuthSettings } from './auth-settings.ts'
import { anonymous, type Caller } from './caller.ts'
import { isSameSecret } from './deploy-token.ts'
import { judgeJwt } from './jwt.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

type CredentialJudgement =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Says who calls. One bad credential refuses the request, also beside a good one (spec 5.3), and what is looked at
 * first is fixed, so the same request always gets the same answer. Of two good ones the JWT speaks: it may be limited.
 */
export async function judgeCredentials(
  presented: PresentedCredentials,
  settings: AuthSettings,
  nowSeconds: number,
): Promise<CredentialJudgement> {
  const { authorization, deployTokens } = presented
  if (authorization.kind === 'malformed') return rejected(authorization.rule)
  const fault = deployTokenFault(deployTokens, settings.deployToken?.())
  if (fault !== undefined) return rejected(fault)
  if (authorization.kind === 'token') return judgeToken(authorization.token, settings, nowSeconds)
  if (deployTokens.length > 0) return { kind: 'caller', caller: { kind: 'deploy_token' } }
  return settings.requireCredential ? noneGiven : { kind: 'caller', caller: anonymous }
}

function deployTokenFault(presented: readonly string[], expected: string | undefined): string | undefined {
  if (presented.length === 0) return undefined
  if (!expected) return 'a deploy token was given, but WATCHER_DEPLOY_TOKEN is not set in this service'
  if (presented.includes('')) return 'the deploy token is empty'
  const allMatch = presented.map((token) => isSameSecret(token, expected)).every(Boolean)
  return allMatch ? undefined : 'the deploy token does not match WATCHER_DEPLOY_TOKEN'
}

async function judgeToken(token: string, settings: AuthSettings, nowSeconds: number): Promise<CredentialJudgement> {
  const secret = settings.jwtSecret?.()
  if (!secret) return rejected('a JWT was given, but JWT_SECRET is not set in this service')
  const previous = settings.jwtSecretPrevious?.()
  const judgement = await judgeJwt(token, {
    secrets: previous ? [secret, previous] : [secret],
    issuer: settings.jwtIssuer,
    audience: settings.jwtAudience,
    nowSeconds,
  })
  if (judgement.kind === 'invalid') return rejected(judgement.reason)
  const { subject, allowedApps } = judgement
  return { kind: 'caller', caller: { kind: 'jwt', subject, allowedApps } }
}

function rejected(rule: string): CredentialJudgement {
  return { kind: 'refused', reason: `credential rejected: ${rule}` }
}

const noneGiven: CredentialJudgement = {
  kind: 'refused',
  reason:
    'no credential was given: send the deploy token in the header WATCHER_DEPLOY_TOKEN or a JWT in the header Authorization',
}
