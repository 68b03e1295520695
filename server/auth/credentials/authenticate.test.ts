import { describe, expect, test } from 'vitest'
import { mintJwt } from '../../../test/support/mint-jwt.ts'
import type { AuthSettings } from './auth-settings.ts'
import { type Authenticators, createAuthenticate, rejected } from './authenticate.ts'
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
const withoutUsers: Authenticators = {
  scopedToken: async () => rejected('the deploy token is unknown'),
  idToken: async () => rejected('unknown issuer'),
}
const jwt = mintJwt({ exp: nowSeconds + 60 }, secret)
const foreignJwt = mintJwt({ exp: nowSeconds + 60, iss: 'https://token.actions.githubusercontent.com' }, secret)
const expiredJwt = mintJwt({ exp: nowSeconds - 1 }, secret)

type Request = { headers?: readonly (readonly [string, string])[]; query?: string; session?: string }

const authenticate = (
  { headers = [], query = '', session }: Request,
  change: Partial<AuthSettings> = {},
  authenticators = withoutUsers,
) => {
  const presented = readPresentedCredentials({ rawHeaders: headers.flat(), url: `/api/v1/tasks${query}` }, session)
  const client = { address: '192.0.2.1', weight: 1 }
  return createAuthenticate({ ...settings, ...change }, authenticators, () => nowSeconds)(presented, client)
}

const answerTo = (...request: Parameters<typeof authenticate>) =>
  authenticate(...request)
    .confirmed()
    .then(
      ({ principal }) => principal.kind,
      ({ message }: Error) => message,
    )

describe('one credential (spec 5.2, 5.3; B24, B31)', () => {
  test.for<[string, Request, string]>([
    ['none', {}, 'anonymous'],
    ['the token by its header', { headers: [['WATCHER_DEPLOY_TOKEN', token]] }, 'deploy_token'],
    ['the token with dashes', { headers: [['Watcher-Deploy-Token', token]] }, 'deploy_token'],
    ['the older name', { headers: [['ARGO_WATCHER_DEPLOY_TOKEN', token]] }, 'deploy_token'],
    ['the older name as a Go client sends it', { headers: [['Argo_watcher_deploy_token', token]] }, 'deploy_token'],
    ['the token in the query', { query: `?deploy_token=${token}` }, 'deploy_token'],
    ['a JWT alone', { headers: [['Authorization', jwt]] }, 'jwt'],
    ['a JWT of any issuer', { headers: [['Authorization', foreignJwt]] }, 'jwt'],
    ['a JWT after Bearer', { headers: [['authorization', `Bearer ${jwt}`]] }, 'jwt'],
    ['a JWT after bearer in another case', { headers: [['Authorization', `bEaReR  ${jwt}`]] }, 'jwt'],
    ['a cookie only', { headers: [['Cookie', `WATCHER_DEPLOY_TOKEN=${token}`]] }, 'anonymous'],
    ['a wrong token', { headers: [['WATCHER_DEPLOY_TOKEN', 'wrong']] }, 'does not match WATCHER_DEPLOY_TOKEN'],
    ['another case', { headers: [['WATCHER_DEPLOY_TOKEN', token.toLowerCase()]] }, 'does not match'],
    ['a prefix', { headers: [['WATCHER_DEPLOY_TOKEN', token.slice(0, -1)]] }, 'does not match'],
    ['one more letter', { headers: [['WATCHER_DEPLOY_TOKEN', `${token}x`]] }, 'does not match'],
    ['the token after Bearer', { headers: [['WATCHER_DEPLOY_TOKEN', `bearer  ${token}`]] }, 'deploy_token'],
    ['a wrong token after Bearer', { headers: [['Argo_watcher_deploy_token', `Bearer ${token}x`]] }, 'does not match'],
    ['a leading blank in the query', { query: `?deploy_token=%20${token}` }, 'does not match'],
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
    ['an expired JWT', { headers: [['Authorization', expiredJwt]] }, 'credential rejected: exp is in the past'],
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

describe('one bad credential refuses all (T5, B30, B32)', () => {
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
    ({ kind: 'verified', principal: { kind, scope: 'all', user: { subject: name, name, groups: [] } } }) as const
  const all: Authenticators = {
    scopedToken: async (one) =>
      one === 'dwt_good'
        ? { kind: 'verified', principal: { kind: 'scoped_token', id: '1', description: 'd', scope: ['shop'] } }
        : rejected('the deploy token is unknown'),
    idToken: async () => rejected('unknown issuer'),
    accessToken: async (one) => (one === 'good' ? user('oidc', 'ada') : rejected('the access token is bad')),
    session: async (one) => (one === 'good' ? user('session', 'ada') : rejected('the session has expired')),
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
      'the deploy token is unknown',
    ],
    [
      'an access token sent by both names',
      [
        ['Oidc-Authorization', 'good'],
        ['Keycloak-Authorization', 'good'],
      ],
      undefined,
      'malformed Oidc-Authorization header: sent twice',
    ],
    ['Basic as an access token', [['Oidc-Authorization', 'Basic x']], undefined, 'malformed Oidc-Authorization'],
  ])('%s', async ([, headers, session, expected]) =>
    expect(await answerTo({ headers, ...(session ? { session } : {}) }, {}, all)).toContain(expected),
  )

  test('each credential is verified once and confirmed once, however often it is asked who calls', async () => {
    const asked: string[] = []
    const answers: Authenticators = {
      ...all,
      accessToken: async () => {
        asked.push('verify')
        const confirm = async () => {
          asked.push('confirm')
          return user('oidc', 'as confirmed')
        }
        return { ...user('oidc', 'as verified'), confirm }
      },
    }
    const { verified, confirmed } = authenticate(
      { headers: [['Oidc-Authorization', 'x']], session: 'good' },
      {},
      answers,
    )
    for (let turn = 0; turn < 3; turn++) {
      expect(await verified()).toMatchObject({ principal: { user: { name: 'as verified' } } })
      expect(asked).toEqual(['verify'])
    }
    for (let turn = 0; turn < 3; turn++) {
      expect(await confirmed()).toMatchObject({
        principal: { user: { name: 'as confirmed' } },
        others: [{ kind: 'session' }],
      })
    }
    expect(asked).toEqual(['verify', 'confirm'])
  })

  test('a credential that the identity provider does not confirm reads, and changes nothing', async () => {
    const confirm = async () => rejected('the user is gone')
    const answers: Authenticators = { ...all, session: async () => ({ ...user('session', 'ada'), confirm }) }
    const { verified, confirmed } = authenticate({ session: 'good' }, {}, answers)
    expect((await verified()).principal.kind).toBe('session')
    await expect(confirmed()).rejects.toThrow('credential rejected: the user is gone')
  })

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
    expect(await answerTo({ query }, change)).toMatch(/^credential rejected: the deploy token is not accepted/)
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

  test.for(['shop', 'argocd/shop'])('allowed_apps names %s, with its namespace or without', async (app) => {
    const claims = { exp: nowSeconds + 60, allowed_apps: [app, 'team/shop'] }
    const { verified } = authenticate({ headers: [['Authorization', mintJwt(claims, secret)]] })
    expect((await verified()).principal).toMatchObject({ kind: 'jwt', scope: ['shop', 'team/shop'] })
  })
})
