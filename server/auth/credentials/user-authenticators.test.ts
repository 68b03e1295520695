import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  clientId,
  reserveIdentityProvider,
  type TestIdentityProvider,
} from '../../../test/support/identity-provider.ts'
import { mintJwt } from '../../../test/support/mint-jwt.ts'
import { makeKey } from '../../../test/support/signing-key.ts'
import { createIdentityProvider } from '../sign-in/identity-provider.ts'
import { createProviderKeys } from './provider-keys.ts'
import { createUserAuthenticators } from './user-authenticators.ts'

let idp: TestIdentityProvider
let passedMs: number
let authenticators: ReturnType<typeof createUserAuthenticators>
beforeAll(async () => {
  idp = await reserveIdentityProvider()
  await idp.start('http://127.0.0.1:1')
})
afterAll(() => idp[Symbol.asyncDispose]())
beforeEach(() => {
  idp.users.set('ada', { groups: ['platform'], preferred_username: 'ada.l' })
  passedMs = 0
  const nowMs = () => Date.now() + passedMs
  const settings = {
    issuerUrl: idp.issuer,
    clientId,
    clientSecret: () => idp.settings.IDP_CLIENT_SECRET,
    privilegedGroups: [],
    scopes: 'openid profile',
    audiences: [clientId, 'account'],
    requireReadAuth: false,
    allowHttpIssuer: false,
  }
  const provider = createIdentityProvider(settings, nowMs)
  const keys = createProviderKeys({
    keysUrl: async () => String((await provider.metadata()).jwks_uri),
    isHttpAllowed: true,
    nowMs,
  })
  const none = async () => undefined
  authenticators = createUserAuthenticators({
    settings,
    provider,
    keys,
    sessions: { find: none },
    checkSession: none,
    wallMs: nowMs,
    monotonicMs: nowMs,
  })
})

const claims = (more: object = {}) => {
  const now = Math.floor(Date.now() / 1000)
  return { iss: idp.issuer, aud: clientId, sub: 'ada', groups: ['platform'], iat: now, exp: now + 600, ...more }
}
const client = { address: '192.0.2.1', weight: 1 }
const verify = (token: string) => authenticators.accessToken(token, client)
const confirm = async (token: string) => {
  const judgement = await verify(token)
  return judgement.kind === 'verified' && judgement.confirm ? judgement.confirm() : judgement
}
const judge = async (token: string) => {
  const judgement = await confirm(token)
  return judgement.kind === 'verified' && 'user' in judgement.principal
    ? judgement.principal.user.groups
    : judgement.kind
}
const calls = () => idp.calls.filter((call) => call === 'GET /me').length

describe('a token of another client or of a removed user is rejected (T28; an access token, spec 5.5)', () => {
  test.for<[string, () => Promise<string>]>([
    ['a JWT', () => idp.issueJwt(claims())],
    ['a JWT whose scopes are a list', () => idp.issueJwt(claims({ scope: undefined, scp: ['profile', 'openid'] }))],
    ['a JWT without scopes', () => idp.issueJwt(claims({ scope: undefined }))],
    ['a JWT of Dex', () => idp.issueJwt(claims({ scope: undefined, at_hash: 'of nothing', nonce: 'n' }))],
    ['an opaque one', () => idp.issueOpaqueToken('ada')],
  ])('%s counts for a minute, though it is valid for longer', async ([, issue]) => {
    const token = await issue()
    expect(await judge(token)).toEqual(['platform'])
    idp.users.delete('ada')
    passedMs = 59_000
    expect(await judge(token)).toEqual(['platform'])
    passedMs = 61_000
    expect(await judge(token)).toBe('refused')
  })

  test('who left a group has it for a minute, whatever the JWT says', async () => {
    const token = await idp.issueJwt(claims())
    expect(await judge(token)).toEqual(['platform'])
    idp.users.set('ada', { groups: ['developers'] })
    passedMs = 61_000
    expect(await judge(token)).toEqual(['developers'])
  })

  test.for<[string, string, string[]]>([
    ['sub holds NUL', 'ad\0a', []],
    ['groups hold NUL', 'bob', ['platform\0']],
    ['groups hold', 'bob', ['platform', '\ud800']],
  ])(
    '%s or a lone surrogate: refused, by its own claims and by what the provider says',
    async ([fault, sub, groups]) => {
      idp.users.set(sub, { groups })
      const reason = expect.stringMatching(new RegExp(`^credential rejected: ${fault}.* surrogate`))
      for (const token of [await idp.issueJwt(claims({ sub, groups })), await idp.issueOpaqueToken(sub)])
        expect(await confirm(token)).toEqual({ kind: 'refused', reason })
    },
  )

  test('that the provider refused is not asked about again for ten seconds', async () => {
    const before = calls()
    for (let turn = 0; turn < 5; turn++) expect(await judge('opaque-and-invented')).toBe('refused')
    expect(calls()).toBe(before + 1)
    passedMs = 11_000
    expect(await judge('opaque-and-invented')).toBe('refused')
    expect(calls()).toBe(before + 2)
  })

  test('is asked about once a minute, and not at all for reading', async () => {
    const token = await idp.issueJwt(claims())
    const before = calls()
    for (let turn = 0; turn < 5; turn++) await verify(token)
    expect(calls()).toBe(before)
    for (let turn = 0; turn < 5; turn++) await judge(token)
    expect(calls()).toBe(before + 1)
  })

  test.for<[string, () => Promise<string>, string]>([
    ['a JWT', () => idp.mintJwt(claims({ scope: 'profile deploy' })), 'lacks the scope openid'],
    ['a JWT with an empty list', () => idp.mintJwt(claims({ scp: [] })), 'lacks the scope openid'],
    ['an opaque one', () => idp.issueOpaqueToken('ada', 'profile'), 'does not accept the access token'],
  ])('%s without the scope openid changes nothing, since the provider does not say whose it is', async (row) => {
    const [, issue, reason] = row
    const token = await issue()
    expect(await confirm(token)).toEqual({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    })
  })

  test.for([{ at_hash: 'x' }, { nonce: 'x' }, { at_hash: 'x', scope: 'openid' }, { c_hash: 'x' }, { typ: 'ID' }])(
    'what may be an ID token by its %o neither reads nor changes anything unless the provider takes it',
    async (more) => {
      const token = await idp.mintJwt(claims(more))
      const refused = { kind: 'refused', reason: expect.stringContaining('ID tokens are not accepted') }
      expect(await confirm(token)).toEqual(refused)
      expect(await verify(token)).toEqual(refused)
    },
  )

  test.for<[string, object]>([
    ['aud names the client among others', { aud: ['other', clientId] }],
    ['azp names the client', { aud: 'other', azp: clientId }],
    ['aud is one of IDP_AUDIENCE', { aud: 'account', azp: 'other' }],
  ])('a JWT is accepted when %s', async ([, more]) =>
    expect(await judge(await idp.issueJwt(claims(more)))).toEqual(['platform']),
  )

  const unsigned = () =>
    `${[{ alg: 'none' }, claims()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
  const seconds = (later: number) => Math.floor(Date.now() / 1000) + later
  test.for<[string, () => Promise<string>, string]>([
    ['of another client', () => idp.mintJwt(claims({ aud: 'other', azp: 'other' })), 'issued for another client'],
    ['without an audience', () => idp.mintJwt(claims({ aud: [] })), 'issued for another client'],
    ['of another issuer', () => idp.mintJwt(claims({ iss: 'https://evil.example' })), 'iss'],
    ['that has expired', () => idp.mintJwt(claims({ exp: seconds(-10) })), 'expired'],
    ['without an expiry', () => idp.mintJwt(claims({ exp: undefined })), 'exp'],
    ['without a user', () => idp.mintJwt(claims({ sub: undefined })), 'sub'],
    ['from the future', () => idp.mintJwt(claims({ iat: seconds(3_600) })), 'iat'],
    ['not valid yet', () => idp.mintJwt(claims({ nbf: seconds(3_600) })), 'nbf'],
    ['of a foreign key', async () => idp.mintJwt(claims(), {}, await makeKey('first')), 'not a valid JWT'],
    ['of an unknown key', async () => idp.mintJwt(claims(), {}, await makeKey('other')), 'key of the provider'],
    ['signed with a shared secret', async () => mintJwt(claims(), 'a shared secret'), 'alg'],
    ['without a signature', async () => unsigned(), 'alg'],
    ['that brings its own key', async () => mintJwt(claims(), 'x', { alg: 'HS256', jwk: {} }), 'alg'],
    ['that the provider never gave', async () => 'opaque-and-invented', 'does not accept'],
  ])('a token %s is rejected', async ([, make, reason]) =>
    expect(await verify(await make())).toEqual({
      kind: 'refused',
      reason: expect.stringContaining(reason),
      ...(reason === 'expired' ? { expired: expect.objectContaining({ kind: 'oidc' }) } : {}),
    }),
  )

  test('a JWT without the scope openid reads until it expires, as a session does', async () => {
    const token = await idp.mintJwt(claims({ scope: 'deploy' }))
    idp.users.delete('ada')
    expect((await verify(token)).kind).toBe('verified')
    passedMs = 601_000 + 5_000
    expect((await verify(token)).kind).toBe('refused')
  })
})

describe('access tokens that nobody knows (spec 5.7)', () => {
  const tooMany = { status: 429, message: 'too many unknown access tokens from one address' }
  const junk = () => `junk-${crypto.randomUUID()}`

  test('reach the provider 60 times a minute for an address, and known good ones go on', async () => {
    const good = await idp.issueOpaqueToken('ada')
    expect(await judge(good)).toEqual(['platform'])
    const before = calls()
    const answers: string[] = []
    for (let turn = 0; turn < 100; turn += 1)
      answers.push(String(await judge(junk()).catch(({ status }: { status: number }) => status)))
    expect(answers).toEqual([...Array(59).fill('refused'), ...Array(41).fill('429')])
    expect(calls()).toBe(before + 59)
    await expect(judge(junk())).rejects.toMatchObject({ ...tooMany, headers: { 'Retry-After': expect.any(String) } })

    passedMs = 59_000 // in the same minute; the good one was asked about at its beginning
    expect(await judge(good)).toEqual(['platform'])
    expect(await judge(await idp.issueJwt(claims()))).toEqual(['platform'])
    const elsewhere = authenticators.accessToken(junk(), { address: '192.0.2.2', weight: 1 })
    expect((await elsewhere).kind).toBe('refused')
    passedMs = 61_000
    expect(await judge(good)).toEqual(['platform'])
    expect(await judge(junk())).toBe('refused')
  })

  test('reach it 10 at once', async () => {
    const before = calls()
    const answers = await Promise.allSettled(Array.from({ length: 30 }, () => judge(junk())))
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(20)
    expect(calls()).toBe(before + 10)
    expect(await judge(junk())).toBe('refused')
  })

  test('that the provider accepts no longer are unknown again', async () => {
    const good = await idp.issueOpaqueToken('ada')
    expect(await judge(good)).toEqual(['platform'])
    idp.users.delete('ada')
    passedMs = 61_000
    expect(await judge(good)).toBe('refused')
    await Promise.all(Array.from({ length: 10 }, () => judge(junk())))
    for (let turn = 0; turn < 50; turn += 1) await judge(junk()).catch(() => undefined)
    passedMs = 72_000
    await expect(judge(good)).rejects.toMatchObject(tooMany)
  })
})
