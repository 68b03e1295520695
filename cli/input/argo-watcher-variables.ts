import { parseDuration } from '../../contract/text/parse-duration.ts'
import { usageError } from '../exit.ts'
import type { Variables } from './ci-defaults.ts'

/** What argo-watcher's client reads from its environment. Times are seconds. */
export type ArgoWatcherVariables = {
  readonly server: string
  readonly deployToken: string | undefined
  /** Wins over the deploy token. */
  readonly bearerToken: string | undefined
  readonly app: string | undefined
  readonly images: readonly string[]
  readonly tag: string | undefined
  readonly author: string | undefined
  readonly project: string | undefined
  readonly callTimeout: number | undefined
  readonly timeout: number | undefined
  readonly refresh: boolean | undefined
  readonly isDebug: boolean
}

/** Read only where ARGO_WATCHER_URL is set: other tools have variables such as TIMEOUT and DEBUG as well. */
export function argoWatcherVariables(variables: Variables): ArgoWatcherVariables | undefined {
  const of = (name: string) => variables[name] || undefined
  const server = of('ARGO_WATCHER_URL')
  if (server === undefined) return undefined
  return {
    server,
    deployToken: of('ARGO_WATCHER_DEPLOY_TOKEN'),
    bearerToken: of('BEARER_TOKEN'),
    app: of('ARGO_APP'),
    images: (of('IMAGES') ?? '')
      .split(',')
      .map((image) => image.trim())
      .filter((image) => image !== ''),
    tag: of('IMAGE_TAG'),
    author: of('COMMIT_AUTHOR'),
    project: of('PROJECT_NAME'),
    callTimeout: duration('TIMEOUT', of('TIMEOUT')),
    timeout: duration('TASK_TIMEOUT', of('TASK_TIMEOUT')),
    refresh: boolean('TASK_REFRESH', of('TASK_REFRESH')),
    isDebug: boolean('DEBUG', of('DEBUG')) === true,
  }
}

function duration(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined) throw usageError(`${name}: must be a duration such as 60s`)
  return Math.ceil(ms / 1_000)
}

/** As Go's strconv.ParseBool. */
function boolean(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(?:1|t|true)$/i.test(text)) return true
  if (/^(?:0|f|false)$/i.test(text)) return false
  throw usageError(`${name}: must be true or false`)
}
