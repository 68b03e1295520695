import { usageError } from '../exit.ts'
import type { Variables } from '../input/ci-defaults.ts'

/** The secret of a run and the header that carries it. */
export type Credential = { readonly secret: string; readonly headers: Readonly<Record<string, string>> }

export const bearer = (secret: string): Credential => ({ secret, headers: { authorization: `Bearer ${secret}` } })

/** A scoped deploy token or a JWT is sent as a bearer, any other text as the static deploy token. */
export const credentialOf = (secret: string): Credential =>
  secret.startsWith('dwt_') || isJwt(secret) ? bearer(secret) : deployToken(secret)

export const deployToken = (secret: string): Credential => ({ secret, headers: { 'watcher-deploy-token': secret } })

/** Three dotted parts in base64url. */
export const isJwt = (text: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)

/** A user's access token, for the deploy lock. @throws {ExitError} */
export function accessTokenOf(variables: Variables): Credential {
  const secret = secretOf('WATCHER_ACCESS_TOKEN', variables.WATCHER_ACCESS_TOKEN)
  if (secret === undefined) throw usageError('WATCHER_ACCESS_TOKEN is not set: it is the access token of a user')
  return { secret, headers: { 'oidc-authorization': `Bearer ${secret}` } }
}

/**
 * The text of a variable without blanks around it and without the word Bearer; undefined where nothing is left.
 * @throws {ExitError} where it cannot stand in a header; the message has only the name
 */
export function secretOf(name: string, text: string | undefined): string | undefined {
  const secret = (text ?? '').trim().replace(/^Bearer\s+/i, '')
  if (secret === '') return undefined
  if (!/^[\x21-\x7e]+$/.test(secret)) throw usageError(`${name}: must not hold blanks or control characters`)
  return secret
}

/** The claim `exp` of a JWT, Unix seconds, not verified; undefined where it cannot be read. */
export function endOf(jwt: string): number | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    return typeof exp === 'number' ? exp : undefined
  } catch {
    return undefined
  }
}
