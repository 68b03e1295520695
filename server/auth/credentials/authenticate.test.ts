import { describe, expect, test } from 'vitest'
import { mintJwt } from '../../../test/support/mint-jwt.ts'
import { authorizeApplication, isInScope, withCanonicalNames } from '../access/authorize.ts'
import type { AuthSettings } from './auth-settings.ts'
import { type Authenticators, authenticate, rejected } from './authenticate.ts'
import { createIdentifyCaller } from './identify-caller.ts'
import { readPresentedCredentials } from './presented-credentials.ts'

const nowSeconds = 1_800_000_000
const secret = 'a secret of more than thirty-two bytes'
const token = 'deploy-Token-1'
const settings: AuthSettings = {
  deployToken: () => token,
  isDeployTokenTakenFromQuery: true,
  jwtSecret: () => secret,
  jwtSecretPrevious: () => undefined,
  jwtIssuer: undefined,
  jwtAudience: undefined,
  enforceAllowedApps: false,
  controlPlaneNamespace: 'argocd',
  requireCredential: false,
}
const judges: Authenticators = {
  scopedToken: async () => rejected('the deploy token is not one of this service'),
  accessToken: undefined,
  session: undefined,
}
const jwt = mintJwt({ exp: nowSeconds + 60 }, secret)
const expiredJwt = mintJwt({ exp: nowSeconds - 1 }, secret)

type Request = { headers?: readonly (readonly [string, string])[]; query?: string; session?: string }

const answerTo = async ({ headers = [], query = '', session }: Request, change: Partial<AuthSettings> = {}) => {
  const presented = readPresentedCredentials({ rawHeaders: headers.flat(), url: `/api/v1/tasks${query}`, session })
  const judgement = await authenticate(presented, { ...settings, ...change }, nowSeconds, judges)
  return judgement.kind === 'caller' ? judgement.caller.kind : judgement.reason
}

describe('one credential (spec 5.2, 5.3)', () => {
  test.for<[string, Request, string]>([
    ['none', {}, 'anonymous'],
    ['the token by its header', { headers: [['WATCHER_DEPLOY_TOKEN', token]] }, 'deploy_token'],
    ['the token with dashes', { headers: [['Watcher-Deploy-Token', token]] }, 'deploy_token'],
    ['the older name', { headers: [['ARGO_WATCHER_DEPLOY_TOKEN', token]] }, 'deploy_token'],
    ['the older name as a Go client sends it', { headers: [['Argo_watcher_deploy_token', token]] }, 'deploy_token'],
    ['the token in the query', { query: `?deploy_token=${token}` }, 'deploy_token'],
    ['a JWT alone', { headers: [['Authorization', jwt]] }, 'jwt'],
    ['a JWT after Bearer', { headers: [['authorization', `Bearer ${jwt}`]] }, 'jwt'],
    ['a JWT after bearer in another case', { headers: [['Authorization', `bEaReR  ${jwt}`]] }, 'jwt'],
    ['a cookie only', { headers: [['Cookie', `WATCHER_DEPLOY_TOKEN=${token}`]] }, 'anonymous'],
    ['a wrong token', { headers: [['WATCHER_DEPLOY_TOKEN', 'wrong']] }, 'does not match WATCHER_DEPLOY_TOKEN'],
    ['another case', { headers: [['WATCHER_DEPLOY_TOKEN', token.toLowerCase()]] }, 'does not match'],
    ['a prefix', { headers: [['WATCHER_DEPLOY_TOKEN', token.slice(0, -1)]] }, 'does not match'],
    ['a trailing blank in the query', { query: `?deploy_token=${token}%20` }, 'does not match'],
    ['a trailing newline in the query', { query: `?deploy_token=${token}%0A` }, 'does not match'],
    ['an empty token', { headers: [['WATCHER_DEPLOY_TOKEN', '']] }, 'the deploy token is empty'],
    ['an empty token in the query', { query: '?deploy_token=' }, 'the deploy token is empty'],
    ['an empty Authorization', { headers: [['Authorization', '']] }, 'malformed'],
    ['Bearer alone', { headers: [['Authorization', 'Bearer']] }, 'malformed'],
    ['Bearer and a blank', { headers: [['Authorization', 'Bearer ']] }, 'malformed'],
    ['Bearer and no JWT', { headers: [['Authorization', 'bearer x']] }, 'not a JWT'],
    ['the word nothing', { headers: [['Authorization', 'Bearer nothing']] }, 'not a JWT'],
    ['Basic', { headers: [['Authorization', 'Basic dXNlcjpwYXNz']] }, 'malformed'],
    ['two tokens in one header', { headers: [['Authorization', `Bearer ${jwt}, Bearer ${jwt}`]] }, 'malformed'],
    [
      'two Authorization headers, both good',
      {
        headers: [
          ['Authorization', jwt],
          ['authorization', jwt],
        ],
      },
      'malformed',
    ],
    ['an expired JWT', { headers: [['Authorization', expiredJwt]] }, 'credential rejected: exp lies in the past'],
    ['a JWT signed with the deploy token', { headers: [['Authorization', mintJwt({ exp: 9e9 }, token)]] }, 'signature'],
    ['the deploy token as a bearer', { headers: [['Authorization', `Bearer ${token}`]] }, 'not a JWT'],
  ])('%s', async ([, request, expected]) => {
    const answer = await answerTo(request)
    expect(answer).toContain(expected)
    expect(answer.length).toBeLessThan(300)
  })

  test('a token outside ASCII is compared by its UTF-8 bytes, in header and query', async () => {
    const change = { deployToken: () => 'tökén' }
    const asNodeReadsIt = Buffer.from('tökén', 'utf8').toString('latin1')
    expect(await answerTo({ headers: [['WATCHER_DEPLOY_TOKEN', asNodeReadsIt]] }, change)).toBe('deploy_token')
    expect(await answerTo({ query: `?deploy_token=${encodeURIComponent('tökén')}` }, change)).toBe('deploy_token')
  })
})

describe('several credentials at once: one bad one refuses all', () => {
  const goodOrBad = {
    jwt: { good: jwt, bad: expiredJwt },
    header: { good: token, bad: 'wrong' },
    query: { good: token, bad: 'wrong' },
  }
  const states = ['absent', 'good', 'bad'] as const
  const combinations = states.flatMap((inJwt) =>
    states.flatMap((inHeader) => states.map((inQuery) => ({ inJwt, inHeader, inQuery }))),
  )

  test.for(combinations)('JWT $inJwt, header $inHeader, query $inQuery', async ({ inJwt, inHeader, inQuery }) => {
    const headers: [string, string][] = []
    if (inJwt !== 'absent') headers.push(['Authorization', goodOrBad.jwt[inJwt]])
    if (inHeader !== 'absent') headers.push(['WATCHER_DEPLOY_TOKEN', goodOrBad.header[inHeader]])
    const query = inQuery === 'absent' ? '' : `?deploy_token=${goodOrBad.query[inQuery]}`
    const answers = new Set<string>()
    for (let repeat = 0; repeat < 50; repeat++) {
      answers.add(await answerTo({ headers: repeat % 2 ? headers.toReversed() : headers, query }))
    }
    expect(answers.size).toBe(1)
    const isRefused = [inJwt, inHeader, inQuery].includes('bad')
    expect([...answers][0]?.startsWith('credential rejected: ')).toBe(isRefused)
  })

  test('a header and the query that differ are refused', async () => {
    const request: Request = { headers: [['WATCHER_DEPLOY_TOKEN', token]], query: '?deploy_token=other' }
    expect(await answerTo(request)).toContain('credential rejected')
  })
})

describe('users beside other credentials', () => {
  const user = (kind: 'oidc' | 'session', name: string) =>
    ({ kind: 'caller', caller: { kind, user: { subject: name, name, groups: [] } } }) as const
  const all: Authenticators = {
    scopedToken: async (one) =>
      one === 'dwt_good'
        ? { kind: 'caller', caller: { kind: 'scoped_token', id: '1', description: 'd', apps: ['shop'] } }
        : rejected('the deploy token is not one of this service'),
    accessToken: async (one) => (one === 'good' ? user('oidc', 'ada') : rejected('the access token is bad')),
    session: async (one) => (one === 'good' ? user('session', 'ada') : rejected('the session has expired')),
  }
  const judged = async (headers: readonly (readonly [string, string])[], session?: string) => {
    const presented = readPresentedCredentials({ rawHeaders: headers.flat(), url: '/', session })
    const judgement = await authenticate(presented, settings, nowSeconds, all)
    return judgement.kind === 'caller' ? judgement.caller.kind : judgement.reason
  }

  test.for<[string, [string, string][], string | undefined, string]>([
    ['an access token', [['Oidc-Authorization', 'Bearer good']], undefined, 'oidc'],
    ['one by its older name', [['Keycloak-Authorization', 'good']], undefined, 'oidc'],
    ['a session', [], 'good', 'session'],
    ['a scoped token', [['Authorization', 'Bearer dwt_good']], undefined, 'scoped_token'],
    ['a JWT and a session', [['Authorization', jwt]], 'good', 'jwt'],
    ['an access token and a session', [['Oidc-Authorization', 'good']], 'good', 'oidc'],
    ['a deploy token and a session', [['Watcher-Deploy-Token', token]], 'good', 'session'],
    ['a JWT and a session that is over', [['Authorization', jwt]], 'bad', 'the session has expired'],
    ['a bad access token and a session', [['Oidc-Authorization', 'bad']], 'good', 'the access token is bad'],
    ['a bad deploy token and a session', [['Watcher-Deploy-Token', 'bad']], 'good', 'does not match'],
    [
      'a bad scoped token and an access token',
      [
        ['Authorization', 'dwt_bad'],
        ['Oidc-Authorization', 'good'],
      ],
      undefined,
      'not one of this service',
    ],
    [
      'an access token sent by both names',
      [
        ['Oidc-Authorization', 'good'],
        ['Keycloak-Authorization', 'good'],
      ],
      undefined,
      'malformed Oidc-Authorization header: it was sent twice',
    ],
    ['Basic as an access token', [['Oidc-Authorization', 'Basic x']], undefined, 'malformed Oidc-Authorization'],
  ])('%s', async ([, headers, session, expected]) => expect(await judged(headers, session)).toContain(expected))

  test('without an identity provider an access token or session is refused by the name of the setting', async () => {
    expect(await answerTo({ headers: [['Oidc-Authorization', 'good']] })).toContain('IDP_ENABLED is not set')
    expect(await answerTo({ session: 'good' })).toContain('IDP_ENABLED is not set')
  })
})

describe('what the settings change', () => {
  test('a method that is not configured is refused by the name of its setting', async () => {
    const off = { deployToken: () => undefined, jwtSecret: () => '' }
    expect(await answerTo({ headers: [['WATCHER_DEPLOY_TOKEN', token]] }, off)).toContain(
      'WATCHER_DEPLOY_TOKEN is not set',
    )
    expect(await answerTo({ headers: [['Authorization', jwt]] }, off)).toContain('JWT_SECRET is not set')
    expect(await answerTo({ query: '?deploy_token=' }, off)).toContain('WATCHER_DEPLOY_TOKEN is not set')
  })

  test('REQUIRE_CREDENTIAL refuses a request without one and says what to send', async () => {
    const answer = await answerTo({}, { requireCredential: true })
    expect(answer).toMatch(/^no credential was given: send /)
    expect(await answerTo({ headers: [['Authorization', jwt]] }, { requireCredential: true })).toBe('jwt')
  })

  test('secrets are read anew for each request', async () => {
    let current = 'first'
    const change = { deployToken: () => current }
    expect(await answerTo({ query: '?deploy_token=second' }, change)).toContain('rejected')
    current = 'second'
    expect(await answerTo({ query: '?deploy_token=second' }, change)).toBe('deploy_token')
  })

  test('the query is no place for a deploy token where DEPLOY_TOKEN_IN_QUERY is false', async () => {
    const change = { isDeployTokenTakenFromQuery: false }
    const query = `?deploy_token=${token}`
    expect(await answerTo({ query }, change)).toMatch(/^credential rejected: a deploy token in the query is not taken/)
    expect(await answerTo({ query, headers: [['WATCHER_DEPLOY_TOKEN', token]] }, change)).toContain('in the query')
    expect(await answerTo({ headers: [['WATCHER_DEPLOY_TOKEN', token]] }, change)).toBe('deploy_token')
  })

  test('a blank that HTTP does not strip belongs to a token', async () => {
    const noBreakSpace = Buffer.from('\u00a0').toString('latin1')
    expect(await answerTo({ headers: [['WATCHER_DEPLOY_TOKEN', token + noBreakSpace]] })).toContain('does not match')
  })

  test('no answer repeats a credential', async () => {
    const answers = [
      await answerTo({ headers: [['WATCHER_DEPLOY_TOKEN', 'canary-7351']] }),
      await answerTo({ headers: [['Authorization', 'canary-7351']] }),
      await answerTo({ query: '?deploy_token=canary-7351' }, { deployToken: () => undefined }),
    ]
    expect(answers.join()).not.toContain('canary')
  })

  test('a route may need a credential whatever the setting says', async () => {
    const identifyCaller = createIdentifyCaller(settings, judges, () => nowSeconds)
    const request = { rawHeaders: [], url: '/api/v1/tasks/1' }
    expect(await identifyCaller(request)).toEqual({ kind: 'anonymous' })
    await expect(identifyCaller(request, 'credential')).rejects.toThrow(/^no credential was given/)
  })
})

describe('the globs of a scoped token', () => {
  test.for<[string, string, boolean]>([
    ['shop', 'shop', true],
    ['argocd/shop', 'shop', true],
    ['argocd/*', 'shop', true],
    ['*/shop-*', 'shop-eu', true],
    ['team/*', 'shop', false],
    ['*', 'shop', true],
    ['*', 'team/shop', false],
    ['argocd/x/*', 'x/shop', false],
  ])('%s, where Argo CD runs in argocd, match %s: %s', ([glob, app, expected]) => {
    expect(isInScope(app, withCanonicalNames([glob], 'argocd'))).toBe(expected)
  })
})

describe('allowed_apps', () => {
  const forApps = (allowedApps?: readonly string[]) => ({ kind: 'jwt', subject: 'ci', allowedApps }) as const

  test.for([
    { caller: forApps(['shop']), app: 'shop', enforced: 'allowed', note: false },
    { caller: forApps(['*']), app: 'shop', enforced: 'allowed', note: false },
    { caller: forApps(['app1']), app: 'app2', enforced: 'refused', note: true },
    { caller: forApps(['App2']), app: 'app2', enforced: 'refused', note: true },
    { caller: forApps([]), app: 'app2', enforced: 'refused', note: true },
    { caller: forApps(undefined), app: 'app2', enforced: 'refused', note: false },
    { caller: { kind: 'deploy_token' } as const, app: 'app2', enforced: 'allowed', note: false },
    { caller: { kind: 'anonymous' } as const, app: 'app2', enforced: 'allowed', note: false },
  ])('$caller deploys $app: $enforced when enforced, else allowed', ({ caller, app, enforced, note }) => {
    expect(authorizeApplication(caller, app, true).kind).toBe(enforced)
    const lenient = authorizeApplication(caller, app, false)
    expect(lenient.kind === 'allowed' && lenient.note !== undefined).toBe(note)
    expect(lenient.kind).toBe('allowed')
  })

  test.for(['shop', 'argocd/shop'])(
    'that lists %s is for the application with and without its namespace',
    async (app) => {
      const claims = { exp: nowSeconds + 60, allowed_apps: [app, 'team/shop'] }
      const identifyCaller = createIdentifyCaller(settings, judges, () => nowSeconds)
      const caller = await identifyCaller({ rawHeaders: ['Authorization', mintJwt(claims, secret)] })
      expect(['shop', 'team/shop', 'other/shop'].map((name) => authorizeApplication(caller, name, true).kind)).toEqual([
        'allowed',
        'allowed',
        'refused',
      ])
    },
  )

  test('the refusal names the application', () => {
    expect(authorizeApplication(forApps(['app1']), 'app2', true)).toMatchObject({
      reason: 'credential rejected: allowed_apps of the JWT does not list app2',
    })
  })
})
