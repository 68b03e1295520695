import { readFileSync } from 'node:fs'
import { usageError } from '../exit.ts'
import { createHttp } from '../http/http.ts'
import type { ArgoWatcherVariables } from './argo-watcher-variables.ts'
import type { Variables } from './ci-defaults.ts'

/** What every command that asks the service takes. */
export type ConnectionFlags = {
  readonly server?: string
  readonly token: boolean
  readonly audience?: string
  readonly caFile?: string
}

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

/**
 * Opens the connection to the service that the flags and the environment name. `open` connects to another server, with the
 * same proxy and authorities.
 * @throws {ExitError}
 */
export function connect(
  flags: ConnectionFlags,
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
  onRequest: (line: string) => void,
) {
  const server = serverOf(flags, variables, argoWatcher)
  const authorities = flags.caFile === undefined ? undefined : readAuthorities(flags.caFile)
  const open = (to: URL) => createHttp({ server: to, authorities, variables })
  return {
    http: createHttp({ server, authorities, variables, onRequest: argoWatcher?.isDebug ? onRequest : () => {} }),
    open,
  }
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
