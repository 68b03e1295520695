import { exitCodes } from '../../contract/exit-codes.ts'
import { ExitError } from '../exit.ts'
import { askAgain } from '../follow/ask-again.ts'
import { NoAnswerError, refusalOf } from '../http/connection-errors.ts'
import type { Http } from '../http/http.ts'
import { isJwt } from './credential.ts'

const tries = 3
const tryLimitMs = 10_000
/** For all tries and the pauses between them. */
const patienceMs = 60_000

type Options = {
  /** As the runner sets them, in ACTIONS_ID_TOKEN_REQUEST_URL and ACTIONS_ID_TOKEN_REQUEST_TOKEN. */
  readonly requestUrl: string
  readonly requestToken: string
  readonly audience: string
  /** Opens a connection with the proxy and the authorities of this run. */
  readonly open: (server: URL) => Http
  readonly signal: AbortSignal
}

/**
 * Requests an ID token of the job from GitHub Actions, or from a CI with the same interface, such as Forgejo.
 * Three tries where no whole answer comes, and after 429 or 5xx. The request token goes to this address alone.
 * Source: https://docs.github.com/en/actions/reference/security/oidc
 * @returns a JWT that lives for some minutes
 * @throws {NoAnswerError} after the last try
 * @throws {ExitError} 4, where the answer is a redirect, another status, or holds no JWT
 */
export async function requestGithubIdToken({ requestUrl, open, signal, ...request }: Options): Promise<string> {
  if (!URL.canParse(requestUrl)) throw refused('ACTIONS_ID_TOKEN_REQUEST_URL is not an address')
  const url = new URL(requestUrl)
  const http = open(new URL(url.origin))
  const giveUpAt = performance.now() + patienceMs
  let tried = 0
  try {
    return await askAgain(() => ask(http, url, { ...request, signal }), {
      giveUpAt: () => giveUpAt,
      signal,
      isFinal: ({ isPermanent }) => {
        tried += 1
        return isPermanent || tried === tries
      },
    })
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    const { message, isPermanent, status } = error
    if (status !== undefined && status < 400)
      throw refused(`${url.origin} redirects (${status}), and the request token is sent nowhere else`)
    throw new NoAnswerError(`${noToken}: ${message}; ${withoutOne}`, { isPermanent, status, cause: error })
  } finally {
    http.close()
  }
}

async function ask(
  http: Http,
  { pathname, search }: URL,
  { requestToken, audience, signal }: Pick<Options, 'requestToken' | 'audience' | 'signal'>,
): Promise<string> {
  const { message, status, text } = await http.send({
    path: `${pathname}${search === '' ? '?' : `${search}&`}audience=${encodeURIComponent(audience)}`,
    headers: { accept: 'application/json', authorization: `bearer ${requestToken}` },
    timeoutMs: tryLimitMs,
    signal,
  })
  if (status === 429 || status >= 500) throw refusalOf(message, http.server, '')
  if (status !== 200) throw refused(`${http.server.origin} returned ${status}`)
  const token = tokenIn(text)
  if (token === undefined) throw refused(`${http.server.origin} returned an answer without a token`)
  return token
}

/** Of `{"value": "<jwt>"}`. */
function tokenIn(text: string): string | undefined {
  try {
    const { value } = JSON.parse(text)
    return typeof value === 'string' && isJwt(value) ? value : undefined
  } catch {
    return undefined
  }
}

const noToken = 'no ID token from GitHub Actions'
const withoutOne = '--no-token sends no credential'
const refused = (why: string) => new ExitError(exitCodes.not_authorized, `${noToken}: ${why}; ${withoutOne}`)
