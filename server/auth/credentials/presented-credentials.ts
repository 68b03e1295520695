import type { IncomingMessage } from 'node:http'
import { isSameSecret } from '../../secrets/secret-digest.ts'

/** Everything in a request that claims to be a credential, good or bad. */
export type PresentedCredentials = {
  readonly deployTokens: readonly string[]
  /** One of these stood in the query. */
  readonly isDeployTokenInQuery: boolean
  readonly authorization: PresentedToken
  /** An access token of the identity provider. */
  readonly accessToken: PresentedToken
  /** The id in the session cookie. */
  readonly session: string | undefined
  /** All of these that have the form of a token, that of `Authorization` first. */
  readonly tokens: readonly string[]
}

type PresentedToken =
  | { readonly kind: 'absent' }
  | { readonly kind: 'malformed'; readonly rule: string }
  | { readonly kind: 'token'; readonly token: string }

/** Lower case, with `-` for `_`: some proxies drop underscores, Go clients capitalise, and an older name lives on. */
const deployTokenHeaders = new Set(['watcher-deploy-token', 'argo-watcher-deploy-token'])

/** The second is an older name, and names one make of provider. */
const accessTokenHeaders = new Set(['oidc-authorization', 'keycloak-authorization'])

/**
 * Collects the credentials of a request without judging them (spec 5.2; header and parameter names are decision 0004).
 * A deploy token may come in a header, in the query, or in both; each one found is reported. `rawHeaders` alternates names
 * and values, as Node gives them: without the blanks that HTTP allows around a value.
 */
export function readPresentedCredentials(
  { rawHeaders, url }: Pick<IncomingMessage, 'rawHeaders' | 'url'>,
  session: string | undefined,
): PresentedCredentials {
  const deployTokens: string[] = []
  const authorization: string[] = []
  const accessTokens: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase().replaceAll('_', '-')
    const value = rawHeaders[index + 1] ?? ''
    if (deployTokenHeaders.has(name)) deployTokens.push(withoutScheme(asUtf8(value)))
    if (name === 'authorization') authorization.push(value)
    if (accessTokenHeaders.has(name)) accessTokens.push(value)
  }
  const inQuery = deployTokensOf(url)
  deployTokens.push(...inQuery)
  const jwt = readToken('Authorization', 'a JWT', authorization)
  const accessToken = readToken('Oidc-Authorization', 'an access token', accessTokens)
  // Some clients send the provider's token in both headers: it is one credential.
  const inAuthorization: PresentedToken = isSameToken(jwt, accessToken) ? { kind: 'absent' } : jwt
  return {
    deployTokens,
    isDeployTokenInQuery: inQuery.length > 0,
    authorization: inAuthorization,
    accessToken,
    session,
    tokens: [inAuthorization, accessToken]
      .flatMap((one) => (one.kind === 'token' ? [one.token] : []))
      .concat(deployTokens),
  }
}

const isSameToken = (one: PresentedToken, other: PresentedToken) =>
  one.kind === 'token' && other.kind === 'token' && isSameSecret(one.token, other.token)

/** `Bearer` may stand before any token that a header carries. */
const withoutScheme = (value: string) => value.replace(/^bearer(?: +|$)/i, '')

function deployTokensOf(url = ''): string[] {
  const query = url.indexOf('?')
  return query < 0 ? [] : new URLSearchParams(url.slice(query + 1)).getAll('deploy_token')
}

/** Node reads header bytes as Latin-1; a token outside ASCII was sent as UTF-8. */
function asUtf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}

function readToken(header: string, form: string, values: readonly string[]): PresentedToken {
  const malformed = (rule: string) => ({ kind: 'malformed', rule: `malformed ${header} header: ${rule}` }) as const
  const [value, second] = values
  if (value === undefined) return { kind: 'absent' }
  if (second !== undefined) return malformed('sent twice')
  const token = withoutScheme(value)
  if (token === '') return malformed('it contains no token')
  if (/\s/.test(token)) return malformed(`it must be ${form}, alone or after "Bearer"`)
  return { kind: 'token', token }
}
