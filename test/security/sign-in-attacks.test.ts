import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttpBrowser, type HttpBrowser } from '../support/http-browser.ts'
import { reserveIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { type Service, startService } from '../support/service.ts'

let idp: TestIdentityProvider
let service: Service
let database: Client

beforeAll(async () => {
  idp = await reserveIdentityProvider()
  service = await startService({ settings: idp.settings })
  await idp.start(service.url)
  idp.users.set('victim', { preferred_username: 'victim' })
  idp.users.set('attacker', { preferred_username: 'attacker' })
  database = new Client({ connectionString: service.databaseUrl })
  await database.connect()
})
afterAll(async () => {
  await database.end()
  await service[Symbol.asyncDispose]()
  await idp[Symbol.asyncDispose]()
})

const isCallback = ({ pathname }: URL) => pathname === '/auth/callback'
const begin = async (browser: HttpBrowser) =>
  String((await browser.request(`${service.url}/auth/login`)).headers.get('location'))
/** A sign-in up to the moment in which the provider sends the browser back. */
const cameBack = async (browser: HttpBrowser, user = 'attacker') =>
  browser.go(await begin(browser), { user }, isCallback)
const changed = (url: URL, change: Record<string, string | undefined>) => {
  const copy = new URL(url)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) copy.searchParams.delete(name)
    else copy.searchParams.set(name, value)
  }
  return copy
}
const sessions = async () => Number((await database.query('SELECT count(*) FROM watcher.sessions')).rows[0].count)

type Attack = (browser: HttpBrowser) => Promise<URL>
const attacks: [string, 'expired' | 'refused' | 'provider', Attack][] = [
  ['a callback out of nowhere', 'expired', async () => new URL(`${service.url}/auth/callback?code=x&state=y`)],
  ['a callback with nothing', 'expired', async () => new URL(`${service.url}/auth/callback`)],
  ['no state', 'refused', async (browser) => changed(await cameBack(browser), { state: undefined })],
  ['a wrong state', 'refused', async (browser) => changed(await cameBack(browser), { state: 'wrong' })],
  ['an empty state', 'refused', async (browser) => changed(await cameBack(browser), { state: '' })],
  ['two states', 'refused', async (browser) => new URL(`${await cameBack(browser)}&state=other`)],
  ['no code', 'refused', async (browser) => changed(await cameBack(browser), { code: undefined })],
  ['an invented code', 'refused', async (browser) => changed(await cameBack(browser), { code: 'invented' })],
  ['two codes', 'refused', async (browser) => new URL(`${await cameBack(browser)}&code=other`)],
  ['another issuer', 'refused', async (browser) => changed(await cameBack(browser), { iss: 'https://evil.example' })],
  ['no issuer', 'refused', async (browser) => changed(await cameBack(browser), { iss: undefined })],
  [
    'the callback of the attacker in the browser of a victim',
    'expired',
    async () => cameBack(createHttpBrowser(), 'attacker'),
  ],
  [
    'the same while the victim signs in',
    'refused',
    async (browser) => {
      await begin(browser)
      return cameBack(createHttpBrowser(), 'attacker')
    },
  ],
  [
    "the attacker's code with the victim's state",
    'refused',
    async (browser) => {
      const own = await cameBack(browser, 'victim')
      const code = (await cameBack(createHttpBrowser(), 'attacker')).searchParams.get('code') ?? ''
      return changed(own, { code })
    },
  ],
  [
    'a sign-in that took ten minutes',
    'expired',
    async (browser) => {
      const callback = await cameBack(browser)
      await database.query("UPDATE watcher.sign_ins SET created = created - interval '10 minutes'")
      return callback
    },
  ],
  [
    'another nonce in the ID token',
    'refused',
    async (browser) => {
      const callback = await cameBack(browser)
      await database.query("UPDATE watcher.sign_ins SET nonce = 'another'")
      return callback
    },
  ],
  [
    'another code verifier',
    'refused',
    async (browser) => {
      const callback = await cameBack(browser)
      await database.query("UPDATE watcher.sign_ins SET code_verifier = repeat('a', 43)")
      return callback
    },
  ],
  [
    'a cookie that nobody gave',
    'expired',
    async (browser) => {
      const callback = await cameBack(browser)
      browser.setCookie(service.url, 'watcher-sign-in', randomBytes(32).toString('base64url'))
      return callback
    },
  ],
  ['a user who says no', 'refused', async (browser) => browser.go(await begin(browser), { abort: true }, isCallback)],
  [
    'a provider that fails',
    'provider',
    async (browser) => changed(await cameBack(browser), { code: undefined, error: 'server_error' }),
  ],
  [
    'an error without a state',
    'refused',
    async (browser) => changed(await cameBack(browser), { code: undefined, state: undefined, error: 'access_denied' }),
  ],
]

describe('an attack on the sign-in gets no session (T27; a callback with a wrong state, code or issuer is 400 (B36))', () => {
  test.for(attacks)('%s: %s', async ([, reason, attack]) => {
    const browser = createHttpBrowser()
    const callback = await attack(browser)
    const before = await sessions()
    const answer = await browser.request(callback)
    expect(answer.headers.get('location')).toBe(`/sign-in-error?reason=${reason}&back=%2F`)
    expect(browser.cookies(service.url).size).toBe(0)
    expect(await sessions()).toBe(before)
  })

  test.for(['a b', '[', 'x:99999', '%zz', '127.0.0.1:x'])(
    'a callback that asks for the host %j is 400',
    async (host) => {
      const request = `GET /auth/callback?code=x&state=y HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      const answer = await rawExchange(Number(new URL(service.url).port), request)
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*"header Host is invalid"/s)
    },
  )

  test('one sign-in more than 300 that one address begins in a minute is 429, and no row of the database', async () => {
    await using replica = await startService({ settings: idp.settings, databaseUrl: service.databaseUrl })
    const begun = async () => Number((await database.query('SELECT count(*) FROM watcher.sign_ins')).rows[0].count)
    const login = () => replica.request('/auth/login', { redirect: 'manual' })
    for (let count = 0; count < 300; count += 1) expect((await login()).status).toBe(302)
    const before = await begun()
    expect(await login()).toMatchObject({ status: 429, body: { error: expect.stringContaining('more than 300') } })
    expect(await begun()).toBe(before)
  })

  test('a callback counts once, also with the cookie that it came with', async () => {
    const browser = createHttpBrowser()
    const callback = await cameBack(browser)
    const cookie = browser.cookies(service.url).get('watcher-sign-in') ?? ''
    expect((await browser.request(callback)).headers.get('location')).toBe('/')
    const before = await sessions()
    const again = createHttpBrowser()
    again.setCookie(service.url, 'watcher-sign-in', cookie)
    expect((await again.request(callback)).headers.get('location')).toContain('reason=expired')
    expect(await sessions()).toBe(before)
  })

  test('an id that somebody planted in the browser is not the one after signing in, and the former one is over', async () => {
    const browser = createHttpBrowser()
    await browser.signIn(service.url, 'attacker')
    const planted = browser.cookies(service.url).get('watcher-session') ?? ''
    const victim = createHttpBrowser()
    victim.setCookie(service.url, 'watcher-session', planted)
    await victim.signIn(service.url, 'victim')
    expect(victim.cookies(service.url).get('watcher-session')).not.toBe(planted)
    expect(await (await browser.request(`${service.url}/api/v1/session`)).json()).toMatchObject({ user: null })
  })

  test('signing in never leads to another site', async () => {
    const browser = createHttpBrowser()
    const login = `${service.url}/auth/login?${new URLSearchParams({ return: '//evil.example' })}`
    const callback = await browser.go(login, { user: 'victim' }, isCallback)
    expect((await browser.request(callback)).headers.get('location')).toBe('/')
  })
})

describe('a cross-site request does not change the deploy lock (T26)', () => {
  type Shape = { method: string; headers: Record<string, string>; body?: string; path?: string }
  const ours = { 'x-watcher-csrf': '1' }
  const shapes: [string, Shape][] = [
    [
      'a form',
      { method: 'POST', headers: { origin: 'https://evil.example', 'content-type': 'text/plain' }, body: 'x' },
    ],
    ['a form without a body', { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }],
    [
      'a fetch without CORS',
      { method: 'POST', headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } },
    ],
    ['a sub-domain', { method: 'POST', headers: { origin: 'http://a.127.0.0.1.nip.example', ...ours } }],
    ['a page without an origin', { method: 'POST', headers: { origin: 'null', ...ours } }],
    ['another port of this host', { method: 'POST', headers: { origin: 'http://127.0.0.1:1', ...ours } }],
    ['one that names no origin', { method: 'POST', headers: {} }],
    ['one with a header of another value', { method: 'POST', headers: { 'x-watcher-csrf': 'true' } }],
    ['a release', { method: 'DELETE', headers: {} }],
    ['a sign-out', { method: 'POST', headers: {}, path: '/auth/logout' }],
    ['a task', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', path: '/api/v1/tasks' }],
    ['an override of the method', { method: 'GET', headers: { 'x-http-method-override': 'DELETE', ...ours } }],
    ['an override in the query', { method: 'GET', headers: ours, path: '/api/v1/deploy-lock?_method=DELETE' }],
    ['JSON that says it is text', { method: 'POST', headers: { ...ours, 'content-type': 'text/plain' }, body: '{}' }],
  ]

  test('a change that a page of another site sends with the cookie of a signed-in user changes nothing', async () => {
    const browser = createHttpBrowser()
    await browser.signIn(service.url, 'victim')
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'POST', { reason: 'stays' })).status).toBe(200)
    const details = async () => (await service.request('/api/v1/deploy-lock/details')).body
    const before = await details()
    for (const [name, { path = '/api/v1/deploy-lock', ...init }] of shapes) {
      const { status } = await browser.request(`${service.url}${path}`, init)
      const harmless = init.method === 'GET' ? [200] : [403, 406, 415]
      expect(harmless, name).toContain(status)
      expect(await details(), name).toEqual(before)
    }
    expect(await (await browser.request(`${service.url}/api/v1/session`)).json()).toMatchObject({
      user: { subject: 'victim' },
    })
    expect((await service.request('/api/v1/tasks')).body).toMatchObject({ total: 0 })
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status).toBe(200)
  })
})

describe('a lock change without the CSRF header is 403 (B34)', () => {
  const form = { 'content-type': 'text/plain' }
  test.for<[string, string, Record<string, string>]>([
    ['no header', 'POST', {}],
    ['no header, to release', 'DELETE', {}],
    ['text/plain', 'POST', form],
    ['text/plain from our own page', 'POST', { ...form, origin: 'ours' }],
    ['another method in a header', 'POST', { 'x-http-method-override': 'DELETE' }],
    ['another method in a header, to release', 'DELETE', { 'x-http-method-override': 'POST' }],
  ])('%s', async ([, method, headers]) => {
    const browser = createHttpBrowser()
    await browser.signIn(service.url, 'victim')
    const before = (await service.request('/api/v1/deploy-lock/details')).body
    const origin = headers.origin === undefined ? {} : { origin: service.url }
    const body = 'content-type' in headers ? { body: '{}' } : {}
    const init = { method, headers: { ...headers, ...origin }, ...body }
    const answer = await browser.request(`${service.url}/api/v1/deploy-lock`, init)
    expect([answer.status, await answer.json()]).toEqual([403, { error: expect.stringContaining('X-Watcher-Csrf: 1') }])
    expect((await service.request('/api/v1/deploy-lock/details')).body).toEqual(before)
  })
})
