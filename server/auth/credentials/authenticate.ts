import { canonicalName } from '../../../contract/application-name.ts'
import type { Client } from '../../http/client-address.ts'
import { isSameSecret } from '../../secrets/secret-digest.ts'
import { anonymous, type Principal } from '../access/principal.ts'
import type { AuthSettings } from './auth-settings.ts'
import { verifyJwt } from './jwt.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

type Refused = { readonly kind: 'refused'; readonly reason: string }
export type CredentialJudgement = { readonly kind: 'caller'; readonly caller: Principal } | Refused

/** `beside`: whom the other credentials of the request stand for. */
type RequestJudgement =
  | { readonly kind: 'caller'; readonly caller: Principal; readonly beside: readonly Principal[] }
  | Refused

/** Credentials that somebody else must be asked about. Each judge answers with a caller, or with why there is none. */
export type Authenticators = {
  /** Of a token that {@link isScopedToken} recognises. */
  readonly scopedToken: (token: string) => Promise<CredentialJudgement>
  /** Undefined without an identity provider, as is the next. */
  readonly accessToken: ((token: string, client: Client) => Promise<CredentialJudgement>) | undefined
  readonly session: ((id: string) => Promise<CredentialJudgement>) | undefined
}

/** What a scoped deploy token begins with, unlike any JWT. */
export const scopedTokenPrefix = 'dwt_'

/**
 * Says who calls. One bad credential refuses the request, also beside a good one (spec 5.3), and what is looked at
 * first is fixed, so the same request always gets the same answer. Of several good ones that in `Authorization` speaks: it
 * may be limited; then the user, then the deploy token.
 */
export async function authenticate(
  presented: PresentedCredentials,
  settings: AuthSettings,
  nowSeconds: number,
  judges: Authenticators,
): Promise<RequestJudgement> {
  const { authorization, accessToken, deployTokens, session } = presented
  for (const one of [authorization, accessToken]) if (one.kind === 'malformed') return rejected(one.rule)
  if (presented.isDeployTokenInQuery && !settings.isDeployTokenTakenFromQuery)
    return rejected('a deploy token in the query is not taken here: send it in the header WATCHER_DEPLOY_TOKEN')
  const fault = deployTokenFault(deployTokens, settings.deployToken?.())
  if (fault !== undefined) return rejected(fault)
  const callers: Principal[] = []
  const judgements = [
    () => (authorization.kind === 'token' ? judgeToken(authorization.token, settings, nowSeconds, judges) : undefined),
    () => (accessToken.kind === 'token' ? judgeAccess(accessToken.token, presented.client, judges) : undefined),
    () => (session === undefined ? undefined : judgeSession(session, judges)),
  ]
  for (const judge of judgements) {
    const judgement = await judge()
    if (judgement?.kind === 'refused') return judgement
    if (judgement) callers.push(judgement.caller)
  }
  if (deployTokens.length > 0) callers.push({ kind: 'deploy_token' })
  const [speaker, ...beside] = callers
  if (speaker) return { kind: 'caller', caller: speaker, beside }
  return settings.requireCredential ? noneGiven(judges) : { kind: 'caller', caller: anonymous, beside }
}

function deployTokenFault(presented: readonly string[], expected: string | undefined): string | undefined {
  if (presented.length === 0) return undefined
  if (!expected) return 'a deploy token was given, but WATCHER_DEPLOY_TOKEN is not set in this service'
  if (presented.includes('')) return 'the deploy token is empty'
  const allMatch = presented.map((token) => isSameSecret(token, expected)).every(Boolean)
  return allMatch ? undefined : 'the deploy token does not match WATCHER_DEPLOY_TOKEN'
}

async function judgeToken(
  token: string,
  settings: AuthSettings,
  nowSeconds: number,
  judges: Authenticators,
): Promise<CredentialJudgement> {
  if (token.startsWith(scopedTokenPrefix)) return judges.scopedToken(token)
  const secret = settings.jwtSecret?.()
  if (!secret) return rejected('a JWT was given, but JWT_SECRET is not set in this service')
  const previous = settings.jwtSecretPrevious?.()
  const judgement = await verifyJwt(token, {
    secrets: previous ? [secret, previous] : [secret],
    issuer: settings.jwtIssuer,
    audience: settings.jwtAudience,
    nowSeconds,
  })
  if (judgement.kind === 'invalid') return rejected(judgement.reason)
  const { subject } = judgement
  const allowedApps = judgement.allowedApps?.map((app) => canonicalName(app, settings.controlPlaneNamespace))
  return { kind: 'caller', caller: { kind: 'jwt', subject, allowedApps } }
}

async function judgeAccess(
  token: string,
  client: Client,
  { accessToken }: Authenticators,
): Promise<CredentialJudgement> {
  return (
    accessToken?.(token, client) ?? rejected('an access token was given, but IDP_ENABLED is not set in this service')
  )
}

async function judgeSession(id: string, { session }: Authenticators): Promise<CredentialJudgement> {
  return session?.(id) ?? rejected('a session was given, but IDP_ENABLED is not set in this service')
}

export function rejected(rule: string): Refused {
  return { kind: 'refused', reason: `credential rejected: ${rule}` }
}

function noneGiven({ session }: Authenticators): Refused {
  const ways = 'the deploy token in the header Watcher-Deploy-Token or a JWT in the header Authorization'
  const signIn = session ? ', or sign in' : ''
  return { kind: 'refused', reason: `no credential was given: send ${ways}${signIn}` }
}
