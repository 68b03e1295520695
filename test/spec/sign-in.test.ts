import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SessionState } from '../../contract/auth.ts'
import { createHttpBrowser, type HttpBrowser } from '../support/http-browser.ts'
import { clientId, type TestIdentityProvider } from '../support/identity-provider.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { aTask, type Service, startService } from '../support/service.ts'
import { makeKey } from '../support/signing-key.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const jwtSecret = 'a secret of these tests, long enough to be good'
let world: World
let idp: TestIdentityProvider
let service: Service
let database: World['database']

beforeAll(async () => {
  world = await startWorld({
    parts: ['provider'],
    settings: { IDP_PRIVILEGED_GROUPS: 'platform, on-call', IDP_AUDIENCE: 'account', JWT_SECRET: jwtSecret },
  })
  ;({ idp, service, database } = world)
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => {
  idp.users.set('ada', { groups: ['platform'], preferred_username: 'ada.l' })
  idp.users.set('bob', { groups: ['developers'], preferred_username: 'bob' })
})

async function signedIn(user: string): Promise<HttpBrowser> {
  const browser = createHttpBrowser()
  await browser.signIn(service.url, user)
  return browser
}
const sessionOf = async (browser: HttpBrowser) =>
  SessionState.parse(await (await browser.request(`${service.url}/api/v1/session`)).json())
const lock = (headers: Record<string, string>, method = 'POST') =>
  service.request('/api/v1/deploy-lock', { method, headers })
const withAccessToken = (token: string) => ({ 'Oidc-Authorization': `Bearer ${token}` })
const isLocked = async () => (await service.request('/api/v1/deploy-lock')).body
/** As if the provider had been asked about everybody that long ago. */
const letPass = (seconds: number) =>
  database.query(`UPDATE watcher.sessions SET checked = checked - make_interval(secs => ${seconds})`)
const nowSeconds = () => Math.floor(Date.now() / 1000)
const claimsOf = (user: string) => ({
  iss: idp.issuer,
  aud: clientId,
  sub: user,
  groups: ['platform'],
  iat: nowSeconds(),
  exp: nowSeconds() + 300,
})

describe('signing in with a browser', () => {
  test('leads back to where it began, and says who one is', async () => {
    const browser = createHttpBrowser()
    const page = await browser.signIn(service.url, 'ada', '/tasks?status=failed#top')
    expect(page.href).toBe(`${service.url}/tasks?status=failed#top`)
    const session = await sessionOf(browser)
    expect(session).toMatchObject({
      enabled: true,
      privileged: true,
      privileged_groups: ['platform', 'on-call'],
      user: { subject: 'ada', name: 'ada.l', groups: ['platform'] },
    })
    expect(Math.abs(Number(session.user?.expires) - nowSeconds() - 8 * 3600)).toBeLessThan(60)
  })

  test('fails for a user with a group that cannot be stored', async () => {
    idp.users.set('eve', { groups: ['platform', 'plat\0form'] })
    const browser = createHttpBrowser()
    const { pathname, searchParams } = await browser.signIn(service.url, 'eve')
    expect([pathname, searchParams.get('reason')]).toEqual(['/sign-in-error', 'refused'])
    expect((await sessionOf(browser)).user).toBeNull()
  })

  test('gives the browser one cookie that scripts cannot read, and no token', async () => {
    const browser = createHttpBrowser()
    const begun = await browser.request(`${service.url}/auth/login`)
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^watcher-sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    const callback = await browser.go(String(begun.headers.get('location')), { user: 'ada' }, isCallback)
    const ended = await browser.request(callback)
    expect(ended.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^watcher-sign-in=; /),
      expect.stringMatching(/^watcher-session=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    expect(ended.headers.get('cache-control')).toBe('no-store')
    expect([...browser.cookies(service.url).keys()]).toEqual(['watcher-session'])
  })

  test('leaves neither the cookie nor a token in the database', async () => {
    const browser = await signedIn('ada')
    const id = browser.cookies(service.url).get('watcher-session') ?? 'none'
    const { rows } = await database.query<{ tokens: Buffer; all: string }>(
      'SELECT tokens, sessions::text AS all FROM watcher.sessions',
    )
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.map((row) => row.all).join()).not.toContain(id)
    for (const { tokens } of rows) expect(tokens.toString('latin1')).not.toMatch(/accessToken|eyJ/)
  })

  test('out again ends the session here, and at the provider', async () => {
    const browser = await signedIn('ada')
    const cookie = browser.cookies(service.url).get('watcher-session') ?? ''
    const answer = await browser.change(service.url, '/auth/logout', 'POST')
    const { location } = (await answer.json()) as { location: string }
    expect(answer.status).toBe(200)
    expect(location).toContain(`${idp.issuer}/session/end?`)
    expect(new URL(location).searchParams.get('post_logout_redirect_uri')).toBe(`${service.url}/`)
    expect(new URL(location).searchParams.get('client_id')).toBe(clientId)
    expect(location).not.toContain('eyJ') // no token reaches the browser
    expect(browser.cookies(service.url).size).toBe(0)
    browser.setCookie(service.url, 'watcher-session', cookie)
    expect((await sessionOf(browser)).user).toBeNull()
  })

  test('out in vain leaves the cookie, so that it can be repeated', async () => {
    const browser = await signedIn('ada')
    await database.query('ALTER TABLE watcher.sessions RENAME TO gone')
    try {
      const answer = await browser.change(service.url, '/auth/logout', 'POST')
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([500, []])
    } finally {
      await database.query('ALTER TABLE watcher.gone RENAME TO sessions')
    }
    expect((await sessionOf(browser)).user).not.toBeNull()
    expect((await browser.change(service.url, '/auth/logout', 'POST')).status).toBe(200)
    expect((await sessionOf(browser)).user).toBeNull()
  })

  test('on plain http it is refused, but for the own machine, and the page can name PUBLIC_URL', async () => {
    await using plain = await startService({ settings: { ...idp.settings, PUBLIC_URL: 'http://watcher.example' } })
    const answer = await plain.request('/auth/login?return=/lock', { redirect: 'manual' })
    expect(answer.headers.get('location')).toBe('/sign-in-error?reason=plain-http&back=%2Flock')
    expect(answer.headers.getSetCookie()).toEqual([])
  })
})

const isCallback = ({ pathname }: URL) => pathname === '/auth/callback'

describe('a session cookie that is truncated, forged, expired or of another key is 401 (B37)', () => {
  const real = async () => (await signedIn('ada')).cookies(service.url).get('watcher-session') ?? ''
  test.for<[string, () => Promise<string> | string]>([
    ['invented', () => randomBytes(32).toString('base64url')],
    ['cut short', async () => (await real()).slice(0, -1)],
    ['changed in a letter', async () => (await real()).replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))],
    ['empty', () => ''],
    ['a JWT', () => mintJwt({ exp: 9e9 }, jwtSecret)],
    [
      'unused for eight hours',
      async () => {
        const id = await real()
        await database.query("UPDATE watcher.sessions SET last_used = last_used - interval '8 hours'")
        return id
      },
    ],
    [
      'a day old, however busy',
      async () => {
        const id = await real()
        await database.query("UPDATE watcher.sessions SET created = created - interval '24 hours'")
        return id
      },
    ],
  ])('%s', async ([, make]) => {
    const headers = { cookie: `watcher-session=${await make()}`, 'x-watcher-csrf': '1' }
    expect(await lock(headers)).toMatchObject({
      status: 401,
      body: { error: 'credential rejected: the session has expired: sign in again' },
    })
    expect(await service.submitTask(aTask(), headers)).toMatchObject({ status: 401 })
    expect(await service.request('/api/v1/session', { headers })).toMatchObject({ status: 200, body: { user: null } })
    expect(await isLocked()).toBe(false)
  })
})

describe('API callers with an access token', () => {
  test.for<[string, (name: string) => Record<string, string>]>([
    ['Oidc-Authorization', (token) => ({ 'Oidc-Authorization': `Bearer ${token}` })],
    ['Oidc-Authorization without Bearer', (token) => ({ 'Oidc-Authorization': token })],
    ['Keycloak-Authorization', (token) => ({ 'Keycloak-Authorization': `bearer ${token}` })],
  ])('in %s set and release the lock, with a JWT and with an opaque one', async ([, headersOf]) => {
    for (const token of [await idp.issueJwt(claimsOf('ada')), await idp.issueOpaqueToken('ada')]) {
      expect(await lock(headersOf(token))).toMatchObject({ status: 200, body: 'deploy lock is set' })
      expect(await isLocked()).toBe(true)
      expect(await lock(headersOf(token), 'DELETE')).toMatchObject({ status: 200, body: 'deploy lock is released' })
    }
  })

  test.for<[string, () => Promise<string>, string]>([
    [
      'of another client',
      () => idp.mintJwt({ ...claimsOf('ada'), aud: 'other', azp: 'other' }),
      'issued for another client',
    ],
    ['that has expired', () => idp.mintJwt({ ...claimsOf('ada'), exp: nowSeconds() - 10 }), 'expired'],
    ['of a foreign key', async () => idp.mintJwt(claimsOf('ada'), {}, await makeKey('first')), 'not a valid JWT'],
    ['that the provider never gave', async () => 'opaque-and-invented', 'does not accept'],
  ])(`T28: a token %s is refused`, async ([, make, reason]) => {
    const answer = await lock(withAccessToken(await make()))
    expect(answer).toMatchObject({ status: 401, body: { error: expect.stringContaining(reason) } })
    expect(await isLocked()).toBe(false)
  })

  test('a user of another group may not lock', async () => {
    const answer = await lock(withAccessToken(await idp.issueJwt({ ...claimsOf('bob'), groups: ['developers'] })))
    expect(answer).toMatchObject({ status: 403, body: { error: 'only members of platform, on-call may do this' } })
    expect(await isLocked()).toBe(false)
  })

  test.for<[string, Record<string, string>, string]>([
    ['nothing', {}, 'no credential was given: send an access token'],
    ['a deploy token', withToken, 'credential rejected: only a user may do this'],
    ['a JWT of ours', { Authorization: mintJwt({ exp: 9e9, sub: 'ada' }, jwtSecret) }, 'only a user may do this'],
    ['an access token in the wrong header', { Authorization: 'Bearer opaque' }, 'not a JWT'],
    ['an empty access token', { 'Oidc-Authorization': 'Bearer ' }, 'malformed Oidc-Authorization header'],
  ])('%s does not move the lock', async ([, headers, reason]) => {
    for (const method of ['POST', 'DELETE'])
      expect(await lock(headers, method)).toMatchObject({
        status: 401,
        body: { error: expect.stringContaining(reason) },
      })
    expect(await isLocked()).toBe(false)
  })

  test('a user sets the lock whatever other good credential comes with his', async () => {
    const token = await idp.issueJwt(claimsOf('ada'))
    for (const beside of [withToken, { Authorization: mintJwt({ exp: 9e9, sub: 'ci' }, jwtSecret) }])
      for (const method of ['POST', 'DELETE'])
        expect((await lock({ ...withAccessToken(token), ...beside }, method)).status).toBe(200)
  })
})

describe('deploying as a user', () => {
  test('the author is the user, whatever the body says, and the task may write', async () => {
    const browser = await signedIn('ada')
    const answer = await browser.change(service.url, '/api/v1/tasks', 'POST', aTask({ author: 'somebody else' }))
    expect(answer.status).toBe(202)
    const { id } = (await answer.json()) as { id: string }
    expect((await service.getTask(id)).author).toBe('ada.l')
    const { rows } = await database.query('SELECT may_write FROM watcher.tasks WHERE id = $1', [id])
    expect(rows).toEqual([{ may_write: true }])
    const cancelled = await browser.change(service.url, `/api/v1/tasks/${id}`, 'DELETE')
    expect([cancelled.status, (await service.getTask(id)).status]).toEqual([200, 'cancelled'])
  })

  test('one who is not privileged may not, and nothing is stored', async () => {
    const browser = await signedIn('bob')
    const before = (await service.request('/api/v1/tasks')).body
    expect((await browser.change(service.url, '/api/v1/tasks', 'POST', aTask())).status).toBe(403)
    expect((await service.request('/api/v1/tasks')).body).toEqual(before)
  })
})

describe('a user whom the provider does not vouch for any more', () => {
  test('loses the right to lock after a minute, and the session', async () => {
    const browser = await signedIn('ada')
    idp.users.delete('ada')
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status).toBe(200)
    await letPass(61)
    const late = await browser.change(service.url, '/api/v1/deploy-lock', 'POST')
    expect([late.status, await late.json()]).toMatchObject([401, { error: expect.stringContaining('sign in again') }])
    expect((await sessionOf(browser)).user).toBeNull()
    expect(await isLocked()).toBe(false)
  })

  test('who left the group may not lock after a minute, but stays signed in', async () => {
    const browser = await signedIn('ada')
    idp.users.set('ada', { groups: ['developers'], preferred_username: 'ada.l' })
    await letPass(61)
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'POST')).status).toBe(403)
    expect(await sessionOf(browser)).toMatchObject({ privileged: false, user: { groups: ['developers'] } })
  })

  test('who has no group any more may not lock after a minute, also where the provider leaves the claim out', async () => {
    const browser = await signedIn('ada')
    idp.users.set('ada', { preferred_username: 'ada.l' })
    await letPass(61)
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'POST')).status).toBe(403)
    expect(await sessionOf(browser)).toMatchObject({ privileged: false, user: { name: 'ada.l', groups: [] } })
  })

  test('who has groups in the ID token only keeps them by a new one, and loses them with it', async () => {
    const eve = { groups: ['platform'], preferred_username: 'eve', hasGroupsInIdToken: true }
    idp.users.set('eve', eve)
    const browser = await signedIn('eve')
    const unlock = async () => (await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status
    const renewals = () => idp.calls.filter((call) => call === 'POST /token').length
    const before = renewals()
    expect([await unlock(), renewals() - before]).toEqual([200, 0]) // as young as the sign-in
    await letPass(61)
    expect([await unlock(), await unlock(), renewals() - before]).toEqual([200, 200, 1])
    idp.users.set('eve', { ...eve, groups: ['developers'] })
    expect(await unlock()).toBe(200)
    await letPass(61)
    expect(await unlock()).toBe(403)
    expect(await sessionOf(browser)).toMatchObject({ privileged: false, user: { name: 'eve', groups: ['developers'] } })
    idp.users.set('eve', eve)
    await letPass(61)
    expect(await unlock()).toBe(200)
  })

  test('who has groups in an ID token that cannot be renewed is no member after a minute, and is told how to be', async () => {
    idp.users.set('eve', { groups: ['platform'], hasGroupsInIdToken: true, hasNoRefreshToken: true })
    const browser = await signedIn('eve')
    const unlock = async () => {
      const answer = await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')
      return [answer.status, ((await answer.json()) as { error?: string }).error]
    }
    expect((await unlock())[0]).toBe(200)
    await letPass(61)
    const refused = [403, expect.stringContaining('sign in again, or add offline_access to IDP_SCOPES')]
    expect([await unlock(), await unlock()]).toEqual([refused, refused])
    expect(await sessionOf(browser)).toMatchObject({ privileged: false, user: { groups: ['platform'] } })
    await browser.signIn(service.url, 'eve')
    expect((await unlock())[0]).toBe(200)
  })

  test('is asked for with a new access token when the old one has expired', async () => {
    idp.letTokensExpireAfter(1)
    const browser = await signedIn('ada')
    idp.letTokensExpireAfter(3600)
    const refreshes = () => idp.calls.filter((call) => call === 'POST /token').length
    const before = refreshes()
    await expect
      .poll(async () => {
        await letPass(61)
        expect((await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status).toBe(200)
        return refreshes()
      })
      .toBe(before + 1)
  })
})

describe('while the identity provider is away', () => {
  test('sessions live on, the lock answers 503 and never 401, and a new sign-in names the cause', async () => {
    const browser = await signedIn('ada')
    const jwt = await idp.issueJwt(claimsOf('ada'))
    const unseen = [await idp.issueJwt(claimsOf('bob')), await idp.issueOpaqueToken('bob')]
    expect((await lock(withAccessToken(jwt), 'DELETE')).status).toBe(200)
    await idp.stop()
    await using secure = await startService({ settings: { ...idp.settings, PUBLIC_URL: 'https://watcher.example' } })
    try {
      await letPass(61)
      expect(await sessionOf(browser)).toMatchObject({ user: { subject: 'ada' } })
      const answer = await browser.change(service.url, '/api/v1/deploy-lock', 'POST')
      expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
        503,
        '10',
        { error: 'the identity provider does not answer, try again later' },
      ])
      for (const token of unseen) expect(await lock(withAccessToken(token))).toMatchObject({ status: 503 })
      expect((await lock(withAccessToken(jwt), 'DELETE')).status).toBe(200) // asked about within the last minute
      expect((await service.submitTask(aTask(), withToken)).status).toBe(202)
      expect(await isLocked()).toBe(false)
      const signIn = createHttpBrowser()
      const { headers } = await signIn.request(`${service.url}/auth/login?return=/lock`)
      const provider = await fetch(String(headers.get('location'))).catch(() => undefined)
      expect(provider).toBeUndefined() // the address is known from before; a service that just started says so itself
      const login = await secure.request('/auth/login?return=/lock', { redirect: 'manual' })
      expect(login.headers.get('location')).toBe('/sign-in-error?reason=provider&back=%2Flock')
    } finally {
      await idp.start(service.url)
    }
    // Behind https the cookies are bound to the host, and those of another name count for nothing.
    const login = () => createHttpBrowser().request(`${secure.url}/auth/login`)
    const cookies = async () => (await login()).headers.getSetCookie()
    await expect
      .poll(cookies)
      .toEqual([
        expect.stringMatching(
          /^__Host-watcher-sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
        ),
      ])
    const url = new URL(String((await login()).headers.get('location')))
    expect(url.searchParams.get('redirect_uri')).toBe('https://watcher.example/auth/callback')
    expect(url.searchParams.get('code_challenge_method')).toBe('S256')
    const cookie = { cookie: `watcher-session=${'a'.repeat(43)}` }
    expect((await secure.request('/api/v1/session', { headers: cookie })).body).toMatchObject({ user: null })
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status).toBe(200)
  })

  test('one that swallows every question is given up after seconds, with 503', async () => {
    const browser = await signedIn('ada')
    await letPass(61)
    idp.proxy.mood = 'swallow'
    try {
      const began = performance.now()
      expect((await browser.change(service.url, '/api/v1/deploy-lock', 'POST')).status).toBe(503)
      expect(performance.now() - began).toBeLessThan(15_000)
    } finally {
      idp.proxy.mood = 'well'
      idp.proxy.cut()
    }
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status).toBe(200)
  })

  test('new signing keys and a restart sign nobody out and keep nobody from signing in', async () => {
    const browser = await signedIn('ada')
    await idp.rotateKeys('second')
    await letPass(61)
    expect((await browser.change(service.url, '/api/v1/deploy-lock', 'DELETE')).status).toBe(200)
    expect(await sessionOf(await signedIn('bob'))).toMatchObject({ user: { subject: 'bob' } })
  })
})
