import { createHmac } from 'node:crypto'
import { ApiError } from './api-error.ts'

export type Policy = { resource?: string; action: string; object: string }

/** A caller: a token, its expiry, and what it allows. */
export type Account = {
  name: string
  token: string
  issuedAtMs: number
  expiresAtMs: number | undefined
  isRevoked: boolean
  policies: readonly Policy[]
  /** What it tried and no policy allows: `resource, action, object`. */
  denied: string[]
}

export type Accounts = ReturnType<typeof createAccounts>

const signingKey = 'simulator'
export const adminPassword = 'password of the simulator'
const adminPolicies: readonly Policy[] = [
  { action: '*', object: '*' },
  { resource: 'accounts', action: '*', object: '*' },
]

/** The accounts of the simulated server and the tokens it has signed. */
export function createAccounts(now: () => number) {
  const accounts = new Map<string, Account>()

  function add(name: string, policies: readonly Policy[], { expiresInMs }: { expiresInMs?: number } = {}): Account {
    const issuedAtMs = now()
    const account: Account = {
      name,
      token: signedToken({
        iss: 'argocd',
        sub: `${name}:apiKey`,
        iat: Math.floor(issuedAtMs / 1_000),
        jti: `${accounts.size}`,
      }),
      issuedAtMs,
      expiresAtMs: expiresInMs === undefined ? undefined : issuedAtMs + expiresInMs,
      isRevoked: false,
      policies,
      denied: [],
    }
    accounts.set(account.token, account)
    return account
  }

  return {
    add,
    /** A further token of an account that is there, with its policies. */
    addToken(name: string): Account {
      const account = [...accounts.values()].find((one) => one.name === name)
      if (!account) throw new ApiError(5, `account '${name}' does not exist`)
      return add(name, account.policies)
    },
    /** A token of the account `admin`, which alone has a password. */
    signIn(username: unknown, password: unknown): Account {
      if (username !== 'admin' || password !== adminPassword) throw new ApiError(16, 'Invalid username or password')
      return add('admin', adminPolicies)
    },
    /** The account behind a bearer token or cookie; throws what the real server answers when there is none. */
    authenticate(token: string | undefined): Account {
      if (token === undefined || token.split('.').length !== 3) throw new ApiError(16, 'no session information')
      const account = accounts.get(token)
      if (!account) throw new ApiError(16, 'invalid session: token signature is invalid: signature is invalid')
      if (account.isRevoked)
        throw new ApiError(16, `invalid session: account ${account.name} does not have token with id`)
      if (account.expiresAtMs !== undefined && account.expiresAtMs <= now()) {
        throw new ApiError(16, 'invalid session: token has invalid claims: token is expired')
      }
      return account
    },
  }
}

function signedToken(claims: Record<string, unknown>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${content}.${createHmac('sha256', signingKey).update(content).digest('base64url')}`
}

/** Whether a policy of the account allows the action; `*` in an object matches anything, slashes too. */
export function isAllowed(account: Account, resource: string, action: string, object: string): boolean {
  const isCovered = account.policies.some(
    (policy) =>
      (policy.resource ?? 'applications') === resource &&
      (policy.action === '*' || policy.action === action) &&
      globPattern(policy.object).test(object),
  )
  if (!isCovered) account.denied.push(`${resource}, ${action}, ${object}`)
  return isCovered
}

function globPattern(glob: string): RegExp {
  return new RegExp(
    `^${glob
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  )
}

/** Bearer (the word in exactly this case) wins over the cookie, which may come in numbered chunks. */
export function presentedToken(headers: {
  authorization?: string | undefined
  cookie?: string | undefined
}): string | undefined {
  if (headers.authorization?.startsWith('Bearer ')) return headers.authorization.slice('Bearer '.length)
  const cookies = new Map(
    (headers.cookie ?? '').split(/;\s*/).map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=')
      return [name, value.join('=')]
    }),
  )
  let token = cookies.get('argocd.token')
  for (let chunk = 1; token !== undefined && cookies.has(`argocd.token-${chunk}`); chunk++) {
    token += cookies.get(`argocd.token-${chunk}`) ?? ''
  }
  return token
}
