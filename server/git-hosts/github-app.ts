import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { jsonOf, type Post } from '../http/outgoing/post.ts'
import { type Fault, faultOf } from './api-fault.ts'

export type GitHubAppSettings = {
  /** GITHUB_APP_ID */
  readonly id: string
  /** GITHUB_APP_PRIVATE_KEY, as it is now: RSA, PEM */
  readonly privateKey: () => string
  /** GITHUB_API_URL, without a slash at its end */
  readonly apiUrl: string
}

/** What a token may do, in one repository. */
export type Permission = 'deployments' | 'contents'

type Dependencies = {
  readonly settings: GitHubAppSettings
  readonly call: Post
  readonly wallMs: () => number
}

type Issued = { readonly token: string; readonly expiresMs: number }
type TokenOutcome = Issued | Fault

export type GitHubApp = ReturnType<typeof createGitHubApp>

/** GitHub ends a token after an hour. */
const maxLifeMs = 3_600_000
/** A token that ends so soon is not begun with. */
const reserveMs = 300_000
/** Each is looked for in each line of the log. */
const maxTokens = 200
/** Of the JSON Web Token: GitHub allows 10 minutes, and its clock may be behind. */
const jwtSeconds = { before: 60, after: 540 } as const

const Installation = z.looseObject({ id: z.number().int() })
const Token = z.looseObject({ token: z.string().min(1), expires_at: z.string() })

/**
 * Gets installation tokens of a GitHub App, each for one repository and one permission, and keeps them until five minutes
 * before their end. Source: https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
 */
export function createGitHubApp({ settings, call, wallMs }: Dependencies) {
  const { id, apiUrl } = settings
  const tokens = new LRUCache<string, Issued>({ max: maxTokens })
  const underWay = new Map<string, Promise<TokenOutcome>>()
  /** Of those that may still be good, kept or not, by when they end. */
  const secrets = new LRUCache<string, number>({ max: 2 * maxTokens })

  /** @param repository `owner/name` */
  async function tokenFor(repository: string, permission: Permission): Promise<TokenOutcome> {
    const key = `${permission} ${repository.toLowerCase()}`
    const kept = tokens.get(key)
    if (kept !== undefined && isFresh(kept)) return kept
    const asked =
      underWay.get(key) ??
      issue(repository, permission)
        .then((outcome) => {
          if ('token' in outcome) keep(key, outcome)
          return outcome
        })
        .finally(() => underWay.delete(key))
    underWay.set(key, asked)
    return asked
  }

  const isFresh = ({ expiresMs }: Issued) => expiresMs - reserveMs > wallMs()

  function keep(key: string, issued: Issued): void {
    tokens.set(key, issued)
    for (const [token, expiresMs] of [...secrets]) if (expiresMs < wallMs()) secrets.delete(token)
    secrets.set(issued.token, issued.expiresMs)
  }

  async function issue(repository: string, permission: Permission): Promise<TokenOutcome> {
    const [owner = '', name = ''] = repository.split('/')
    const authorization = await authorizationOfApp()
    if (typeof authorization !== 'string') return authorization
    const found = await request('GET', `/repos/${owner}/${name}/installation`, authorization)
    const absent = `GitHub App ${id} is not installed on ${repository}, or there is no such repository`
    const notFound = ofApp(faultOf(found, 'GitHub', absent))
    if (notFound !== undefined) return notFound
    const installation = Installation.safeParse('text' in found ? jsonOf(found.text) : undefined).data
    if (installation === undefined) return unreadable
    const body = { repositories: [name], permissions: { [permission]: 'write' } }
    const made = await request('POST', `/app/installations/${installation.id}/access_tokens`, authorization, body)
    const lacking = `the installation of GitHub App ${id} for ${repository} lacks the permission ${permission}: write, or is suspended`
    const fault = ofApp(faultOf(made, 'GitHub', lacking))
    // What an installation does not have cannot be handed on: 422.
    if (fault?.kind === 'final') return { kind: 'blocked', error: lacking }
    if (fault !== undefined) return fault
    const token = Token.safeParse('text' in made ? jsonOf(made.text) : undefined).data
    if (token === undefined) return unreadable
    const latestMs = wallMs() + maxLifeMs
    const expiresMs = Math.min(Date.parse(token.expires_at) || latestMs, latestMs)
    return { token: token.token, expiresMs }
  }

  /** The App itself is not known: no token is, then. */
  const ofApp = (fault: Fault | undefined): Fault | undefined =>
    fault?.kind === 'unauthorized'
      ? {
          kind: 'blocked',
          error: `GitHub rejects the key of GitHub App ${id}: check GITHUB_APP_ID, GITHUB_APP_PRIVATE_KEY and the clock`,
        }
      : fault

  async function authorizationOfApp(): Promise<string | Fault> {
    try {
      const seconds = Math.floor(wallMs() / 1_000)
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
        .setIssuer(id)
        .setIssuedAt(seconds - jwtSeconds.before)
        .setExpirationTime(seconds + jwtSeconds.after)
        .sign(createPrivateKey(settings.privateKey()))
      return `Bearer ${token}`
    } catch {
      return { kind: 'blocked', error: 'GITHUB_APP_PRIVATE_KEY holds no RSA private key in PEM form' }
    }
  }

  const request = (method: 'GET' | 'POST', path: string, authorization: string, body?: object) =>
    call(`${apiUrl}${path}`, {
      method,
      headers: gitHubHeaders(authorization),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      allowsPrivate: true,
    })

  return {
    id,
    apiUrl,
    tokenFor,
    /** The next use gets another one: GitHub does not take this one any more. */
    forget(token: string): void {
      for (const [key, issued] of [...tokens]) if (issued.token === token) tokens.delete(key)
    },
    /** Whether a token is kept for the next use. */
    isKept: (token: string): boolean =>
      [...tokens.values()].some((issued) => issued.token === token && isFresh(issued)),
    /** What must not reach a log or a reply. */
    secrets: (): readonly string[] => [...secrets.keys()],
  }
}

const unreadable: Fault = { kind: 'passing', error: 'GitHub answered something else than its API describes' }

export const gitHubHeaders = (authorization: string): Readonly<Record<string, string>> => ({
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'user-agent': 'deployment-watcher',
  'x-github-api-version': '2022-11-28',
  authorization,
})
