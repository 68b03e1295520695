import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings, SettingsError } from '../../server/settings.ts'
import { type CredentialWorld, startCredentialWorld } from '../support/credential-world.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { aTask, startService } from '../support/service.ts'
import { withToken } from '../support/world.ts'
import { errorOf, idOf, textOf } from './answers.ts'
import { forgedJwts } from './forged-jwts.ts'
import { threats } from './rows.ts'

const jwtSecret = 'a secret of these tests, longer than 32 bytes'
const nowSeconds = () => Math.floor(Date.now() / 1000)
const goodClaims = () => ({ sub: 'ci', exp: nowSeconds() + 600 })

let world: CredentialWorld
beforeAll(async () => {
  world = await startCredentialWorld(jwtSecret)
})
afterAll(() => world[Symbol.asyncDispose]())

const withJwt = (token: string) => world.present([['Authorization', `Bearer ${token}`]])

test(threats.T1, async () => {
  const tokens = forgedJwts(jwtSecret)
  expect(tokens.length).toBeGreaterThanOrEqual(100)
  const answers = await Promise.all(tokens.map(withJwt))
  expect(answers.filter(({ status }) => status !== 401).map(textOf)).toEqual([])
  expect(new Set(answers.map(errorOf).map((error) => error.slice(0, 20)))).toEqual(new Set(['credential rejected:']))
  const good = { sub: 'ci', exp: 4_000_000_000 }
  expect((await withJwt(mintJwt(good, jwtSecret))).status).toBe(409)
  expect((await withJwt(mintJwt(good, jwtSecret, { alg: 'HS256', kid: "' OR 1=1" }))).status).toBe(409) // never looked up
})

test(threats.T2, async () => {
  const now = nowSeconds()
  const noTimes = [null, '9999999999', '', 'x', [], {}, true, [now + 60]]
  const cases: [string, object | string][] = [
    ['exp', {}],
    ...[...noTimes, -1, 0, 1, now - 1, now, -1e300, 1e300].map((exp): [string, object] => ['exp', { exp }]),
    ['exp', `{"exp":1e999}`],
    ...noTimes.flatMap((value): [string, object][] => [
      ['iat', { ...goodClaims(), iat: value }],
      ['nbf', { ...goodClaims(), nbf: value }],
    ]),
    ...[now + 3_600, 1e300].flatMap((value): [string, object][] => [
      ['iat', { ...goodClaims(), iat: value }],
      ['nbf', { ...goodClaims(), nbf: value }],
    ]),
  ]
  expect(cases.length).toBeGreaterThanOrEqual(30)
  for (const [claim, claims] of cases) {
    const answer = await withJwt(mintJwt(claims, jwtSecret))
    expect([answer.status, errorOf(answer)], JSON.stringify(claims)).toEqual([
      401,
      expect.stringMatching(`\\b${claim}\\b`),
    ])
  }
  expect((await withJwt(mintJwt({ ...goodClaims(), iat: now + 3, nbf: now + 3 }, jwtSecret))).status).toBe(409)
})

describe(threats.T3, () => {
  const least = {
    ARGO_URL: 'https://a.example',
    ARGO_TOKEN: 't',
    DATABASE_URL: 'postgres://db/w',
    OVERRIDE_FILE_PREFIX: 'argocd',
  }
  const idp = { IDP_ENABLED: 'true', IDP_ISSUER_URL: 'https://id.example', IDP_CLIENT_ID: 'w' }
  const linesOf = (settings: Record<string, string>): readonly string[] => {
    try {
      return readSettings({ ...least, ...settings }).warnings
    } catch (error) {
      if (error instanceof SettingsError) return error.issues
      throw error
    }
  }
  test.for<[Record<string, string>, string]>([
    ...['', ' ', '\n', '\t\n'].map((secret): [Record<string, string>, string] => [
      { JWT_SECRET: secret },
      'JWT_SECRET: must not be blank',
    ]),
    ...['changeme', 'x', 'é'.repeat(15), 's'.repeat(31)].map((secret): [Record<string, string>, string] => [
      { JWT_SECRET: secret },
      'JWT_SECRET is weak: use at least 32 bytes',
    ]),
    [{ JWT_SECRET: 's'.repeat(32), JWT_SECRET_PREVIOUS: 'old' }, 'JWT_SECRET_PREVIOUS is weak: use at least 32 bytes'],
    [{ WATCHER_DEPLOY_TOKEN: ' ' }, 'WATCHER_DEPLOY_TOKEN: must not be blank'],
    [{ ...idp, IDP_CLIENT_SECRET: '' }, 'IDP_CLIENT_SECRET: must not be blank'],
  ])('%j', ([settings, line]) => {
    const lines = linesOf(settings).filter((one) => !/^(IDP_ENABLED|insecure settings)/.test(one))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(line)
  })
  test('a metric tells of a weak one, too', async () => {
    await using weak = await startService({ settings: { JWT_SECRET: 'changeme' } })
    expect(textOf(await weak.request('/metrics'))).toMatch(/^weak_jwt_secret 1$/m)
    expect(weak.logs().match(/JWT_SECRET is weak/g)).toHaveLength(1)
    expect(textOf(await world.service.request('/metrics'))).toMatch(/^weak_jwt_secret 0$/m)
  })
})

test(threats.T4, () => {
  const folder = path.join(import.meta.dirname, '../../server/auth')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )
  const secretName = /(?:token|secret|digest|password|presented)\w*(?:\(\))?/i
  const compared = new RegExp(
    `\\b${secretName.source} [!=]==? (?!undefined|''|null)|[!=]==? ${secretName.source}\\b`,
    'i',
  )
  const found = sources.flatMap((name) =>
    readFileSync(path.join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => compared.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  )
  expect(compared.test('if (token === expected) return')).toBe(true)
  expect(found).toEqual([])
})

test(threats.T5, async () => {
  const jwt = mintJwt(goodClaims(), jwtSecret)
  const inAuthorization = [undefined, `Bearer ${jwt}`, ` bEARER   ${jwt}`, jwt, `Bearer ${jwt}x`]
  const inHeader = [undefined, withToken['Watcher-Deploy-Token'], 'wrong']
  const inQuery = ['', `?deploy_token=${withToken['Watcher-Deploy-Token']}`, '?deploy_token=wrong']
  const combinations = inAuthorization.flatMap((jwt) =>
    inHeader.flatMap((header) => inQuery.map((query) => ({ jwt, header, query }))),
  )
  for (const { jwt, header, query } of combinations) {
    const headers: [string, string][] = []
    if (jwt) headers.push(['Authorization', jwt])
    if (header) headers.push(['Watcher-Deploy-Token', header])
    const isBad = jwt?.endsWith('x') || header === 'wrong' || query.endsWith('wrong')
    const isNone = headers.length === 0 && query === ''
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.present(headers, query)))
    expect(new Set(answers.map(textOf)).size).toBe(1)
    expect(answers[0]?.status).toBe(isBad || isNone ? 401 : 409)
  }
  expect(combinations.length).toBeGreaterThanOrEqual(24)
  const twice = await world.present([
    ['Authorization', jwt],
    ['Authorization', jwt],
  ])
  expect([twice.status, errorOf(twice)]).toEqual([401, expect.stringContaining('malformed Authorization header')])
}, 120_000)

test(threats.T7, async () => {
  const wanted = aTask({ app: 'mass-assignment', timeout: 77 })
  const names = 'id status validated may_write mayWrite created updated commit owner fence cause progress status_reason'
  const more = 'repository branch app_url is_rollback rollback_target_id audit actor'
  const extra = Object.fromEntries(`${names} ${more}`.split(' ').map((name) => [name, 'forged']))
  const id = idOf(await world.service.submitTask({ ...extra, ...wanted }))
  const ended = await world.service.waitForEnd(id)
  expect(JSON.stringify(ended)).not.toContain('forged')
  expect(ended).toMatchObject({ ...wanted, id, status: 'app not found' })

  const protectedTask = idOf(await world.service.submitTask(aTask({ app: 'no-such-app-yet', timeout: 60 }), withToken))
  const rival = { ...extra, ...aTask({ app: 'no-such-app-yet', author: 'eve' }) }
  expect((await world.service.submitTask(rival)).status).toBe(202)
  const { status } = await world.service.waitForEnd(protectedTask)
  expect(status).toBe('app not found') // by its own verdict, not `cancelled` by one without a credential
})

describe(threats.T8, () => {
  const token = () => mintJwt({ ...goodClaims(), allowed_apps: ['app1'] }, jwtSecret)
  const headers = () => ({ Authorization: `Bearer ${token()}` })

  test('is told in the log and refuses nothing by default', async () => {
    expect((await world.service.submitTask(aTask({ app: 'app2' }), headers())).status).toBe(202)
    expect(world.service.logs()).toMatch(/allowed_apps/)
  })

  test('refuses another application, by its name, with JWT_ENFORCE_ALLOWED_APPS', async () => {
    await using strict = await startService({ settings: { JWT_SECRET: jwtSecret, JWT_ENFORCE_ALLOWED_APPS: 'true' } })
    const refused = await strict.submitTask(aTask({ app: 'app2' }), headers())
    expect([refused.status, errorOf(refused)]).toEqual([401, expect.stringContaining('app2')])
    expect((await strict.submitTask(aTask({ app: 'app1' }), headers())).status).toBe(202)
  })
})
