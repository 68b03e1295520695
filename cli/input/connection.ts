import { readFileSync } from 'node:fs'
import { usageError } from '../exit.ts'
import { createHttp } from '../http/http.ts'
import type { ArgoWatcherVariables } from './argo-watcher-variables.ts'
import type { Variables } from './ci-defaults.ts'

/** What every command that asks the service takes. */
export type ConnectionFlags = { readonly server?: string; readonly token: boolean; readonly caFile?: string }

/** The service's address without a slash at the end. @throws {ExitError} */
function serverOf(
  { server }: ConnectionFlags,
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
): URL {
  const text = server ?? (variables.WATCHER_URL || argoWatcher?.server)
  if (text === undefined) throw usageError('no server: give --server or set WATCHER_URL')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usageError(`server ${text}: must be an address such as https://watcher.example.com`)
  if (url.username !== '' || url.password !== '') throw usageError('server: must not hold a user or a password')
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

/** The secret of a run and the header that carries it; undefined where none is sent. */
export type Credential = { readonly secret: string; readonly headers: Readonly<Record<string, string>> }

/** @throws {ExitError} where it cannot stand in a header */
export function credentialOf(
  { token: isWanted }: ConnectionFlags,
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
): Credential | undefined {
  if (!isWanted) return undefined
  const own = secretOf('WATCHER_TOKEN', variables.WATCHER_TOKEN)
  if (own !== undefined) return isBearer(own) ? bearer(own) : deployToken(own)
  const theirs = secretOf('BEARER_TOKEN', argoWatcher?.bearerToken)
  if (theirs !== undefined) return bearer(theirs)
  const deploy = secretOf('ARGO_WATCHER_DEPLOY_TOKEN', argoWatcher?.deployToken)
  return deploy === undefined ? undefined : deployToken(deploy)
}

/** A user's access token, for the deploy lock. @throws {ExitError} */
export function accessTokenOf(variables: Variables): Credential {
  const secret = secretOf('WATCHER_ACCESS_TOKEN', variables.WATCHER_ACCESS_TOKEN)
  if (secret === undefined) throw usageError('WATCHER_ACCESS_TOKEN is not set: it is the access token of a user')
  return { secret, headers: { 'oidc-authorization': `Bearer ${secret}` } }
}

function secretOf(name: string, text: string | undefined): string | undefined {
  const secret = (text ?? '').trim().replace(/^Bearer\s+/i, '')
  if (secret === '') return undefined
  if (!/^[\x21-\x7e]+$/.test(secret)) throw usageError(`${name}: must not hold blanks or control characters`)
  return secret
}

/** A scoped deploy token or a JWT. */
const isBearer = (secret: string) => secret.startsWith('dwt_') || /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret)
const bearer = (secret: string): Credential => ({ secret, headers: { authorization: `Bearer ${secret}` } })
const deployToken = (secret: string): Credential => ({ secret, headers: { 'watcher-deploy-token': secret } })

/** Opens the connection that the flags and the environment name. @throws {ExitError} */
export function connect(
  flags: ConnectionFlags,
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
  onRequest: (line: string) => void,
) {
  const server = serverOf(flags, variables, argoWatcher)
  const authorities = flags.caFile === undefined ? undefined : readAuthorities(flags.caFile)
  return createHttp({ server, authorities, variables, onRequest: argoWatcher?.isDebug ? onRequest : () => {} })
}

function readAuthorities(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw usageError(`--ca-file ${file}: ${(error as Error).message}`)
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw usageError(`--ca-file ${file}: holds no PEM certificate`)
  return text
}
