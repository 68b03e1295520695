import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { startTokenIssuer, type TokenIssuer } from '../../../test/support/token-issuer.ts'
import { parseConfig } from '../../config/parse-config.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import { createVerifyIdToken } from './verify-id-token.ts'

const publicUrl = 'https://watcher.example'
let now = 1_800_000_000
let clockMs = 0
let issuer: TokenIssuer
let verify: ReturnType<typeof createVerifyIdToken>

const rulesOf = (rules: readonly object[]) => {
  const parsed = parseConfig(JSON.stringify({ ci_identities: rules }), publicUrl)
  if ('issues' in parsed) throw new Error(parsed.issues.join('; '))
  return parsed.config.ciRules
}
const ruleFor = (url: string, name = 'shop') => ({
  name,
  issuer: url,
  match: { repository_id: '1' },
  apps: ['shop', 'shop-*'],
})
const verifierOf = (rules: readonly object[]) =>
  createVerifyIdToken({
    rules: () => rulesOf(rules),
    keysOf: createIssuerKeys(() => clockMs),
    nowSeconds: () => now,
    controlPlaneNamespace: 'argocd',
  })
const claims = (change: object = {}) => ({
  iss: issuer.url,
  aud: publicUrl,
  sub: 'repo:shop/web:ref:refs/heads/main',
  iat: now,
  exp: now + 300,
  repository_id: '1',
  repository: 'shop/web',
  ...change,
})

beforeEach(async () => {
  now = 1_800_000_000
  clockMs = 0
  issuer = await startTokenIssuer()
  verify = verifierOf([ruleFor(issuer.url)])
  return () => issuer[Symbol.asyncDispose]()
})

const reason = async (token: string): Promise<string> => {
  const result = await verify(token)
  return result.kind === 'verified' ? 'verified' : result.reason
}

test('stands for the job, its rules and its commit', async () => {
  verify = verifierOf([
    ruleFor(issuer.url),
    { ...ruleFor(issuer.url, 'team'), match: { repository_id: ['1', '2'] }, apps: ['web'] },
  ])
  const token = await issuer.sign(claims({ run_id: '7', run_attempt: '2', sha: 'abc', ref: 'refs/heads/main' }))
  expect(await verify(token)).toEqual({
    kind: 'verified',
    principal: {
      kind: 'ci',
      issuer: issuer.url,
      subject: 'repo:shop/web:ref:refs/heads/main',
      rules: [
        { name: 'shop', scope: ['shop', 'shop-*'] },
        { name: 'team', scope: ['web'] },
      ],
      scope: ['shop', 'shop-*', 'web'],
      runUrl: `${issuer.url}/shop/web/actions/runs/7/attempts/2`,
      server: issuer.url,
      source: {
        repository: 'shop/web',
        sha: 'abc',
        ref: 'refs/heads/main',
        url: `${issuer.url}/shop/web/commit/abc`,
      },
    },
  })
})

test('stands for the tag of its commit', async () => {
  const token = await issuer.sign(claims({ sha: 'abc', ref: 'refs/tags/v1', ref_type: 'tag' }))
  expect(await verify(token)).toMatchObject({ principal: { source: { ref: 'refs/tags/v1', tag: 'v1' } } })
})

test.for(['RS256', 'ES256', 'PS256', 'EdDSA'] as const)('a token signed with %s is verified', async (algorithm) => {
  await issuer.rotate(algorithm)
  expect(await reason(await issuer.sign(claims()))).toBe('verified')
})

describe('is refused in one sentence', () => {
  test.for<[string, object, string]>([
    [
      'another audience',
      { aud: 'https://other.example' },
      'aud is https://other.example, must be https://watcher.example alone',
    ],
    [
      'a foreign audience beside ours',
      { aud: [publicUrl, 'https://other.example'] },
      'aud is https://watcher.example, https://other.example, must be https://watcher.example alone',
    ],
    [
      'an audience with a slash',
      { aud: `${publicUrl}/` },
      'aud is https://watcher.example/, must be https://watcher.example alone',
    ],
    ['no audience', { aud: undefined }, 'aud is undefined, must be https://watcher.example alone'],
    ['no exp', { exp: undefined }, 'exp is missing: a JWT needs an expiry time'],
    ['an exp that is a text', { exp: '9999999999' }, 'exp must be a number of seconds since 1970'],
    ['an exp beyond all time', { exp: 1e300 }, 'exp must be a number of seconds since 1970'],
    [
      'an exp in the past',
      { exp: 1_800_000_000 - 30 },
      'exp is in the past: the JWT expired at 2027-01-15T07:59:30.000Z',
    ],
    ['an iat in the future', { iat: 1_800_000_031 }, 'iat is in the future: 2027-01-15T08:00:31.000Z'],
    ['an nbf in the future', { nbf: 1_800_000_031 }, 'nbf is in the future: 2027-01-15T08:00:31.000Z'],
    ['no sub', { sub: undefined }, 'sub of the ID token must be a text of at most 1000 characters'],
    ['a sub with NUL', { sub: 'a\0b' }, 'sub of the ID token must be a text of at most 1000 characters'],
    ['a very long sub', { sub: 'x'.repeat(1_001) }, 'sub of the ID token must be a text of at most 1000 characters'],
    ['another repository', { repository_id: '2' }, 'no rule for repository_id 2 (shop/web)'],
    [
      'an issuer that no rule names',
      { iss: 'https://evil.example' },
      'unknown issuer: no rule of ci_identities is for https://evil.example',
    ],
    [
      'an issuer with a slash',
      { iss: 'https://watcher.example/' },
      'unknown issuer: no rule of ci_identities is for https://watcher.example/',
    ],
    ['no issuer', { iss: undefined }, 'unknown issuer: no rule of ci_identities is for '],
  ])('%s', async ([, change, expected]) =>
    expect(await reason(await issuer.sign(claims(change)))).toBe(`credential rejected: ${expected}`),
  )

  test.for<[string, object, string]>([
    ['a list of our audience alone is good', { aud: [publicUrl] }, 'verified'],
    ['an exp that passed 29 s ago', { exp: 1_800_000_000 - 29 }, 'verified'],
    ['an exp in ten years', { exp: 1_800_000_000 + 315_360_000 }, 'verified'],
    ['an iat 30 s ahead', { iat: 1_800_000_030 }, 'verified'],
  ])('%s', async ([, change, expected]) => expect(await reason(await issuer.sign(claims(change)))).toBe(expected))

  test.for<[string, object, string]>([
    ['crit', { crit: ['x'], x: 1 }, 'algorithm not allowed: the header must not contain crit'],
    ['an embedded key', { jwk: { kty: 'RSA' } }, 'algorithm not allowed: the header must not contain jwk'],
    ['the address of a key', { jku: 'https://evil.example' }, 'algorithm not allowed: the header must not contain jku'],
    [
      'the address of a certificate',
      { x5u: 'https://evil.example' },
      'algorithm not allowed: the header must not contain x5u',
    ],
    ['no kid', { kid: undefined }, 'kid is missing in the header of the ID token'],
    ['an unknown kid', { kid: 'other' }, 'the ID token is not signed with a key of its issuer'],
  ])('%s in the header', async ([, header, expected]) =>
    expect(await reason(await issuer.sign(claims(), header))).toBe(`credential rejected: ${expected}`),
  )

  test('a signature of another key with the kid of ours', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const forged = await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: issuer.kid() }).sign(privateKey)
    expect(await reason(forged)).toBe('credential rejected: the ID token is not signed with a key of its issuer')
  })

  test('the kid of another issuer', async () => {
    await using other = await startTokenIssuer()
    verify = verifierOf([ruleFor(issuer.url), ruleFor(other.url, 'other')])
    expect(await reason(await other.sign(claims()))).toBe(
      'credential rejected: the ID token is not signed with a key of its issuer',
    )
    expect(await reason(await other.sign(claims({ iss: other.url })))).toBe('verified')
  })
})

test('each of ten issuers is asked for its own keys', async () => {
  await using opened = new AsyncDisposableStack()
  const issuers: TokenIssuer[] = []
  for (let at = 0; at < 10; at++) issuers.push(opened.use(await startTokenIssuer()))
  verify = verifierOf(issuers.map(({ url }, at) => ruleFor(url, `rule ${at}`)))
  for (const [at, one] of issuers.entries()) {
    expect(await verify(await one.sign(claims({ iss: one.url })))).toMatchObject({
      principal: { rules: [{ name: `rule ${at}` }] },
    })
    expect(one.calls()).toEqual(['/.well-known/openid-configuration', '/keys'])
  }
})

test('one that has only expired stands for whom it stood', async () => {
  const old = { exp: now - 31, iat: now - 331 }
  expect(await verify(await issuer.sign(claims(old)))).toMatchObject({
    kind: 'refused',
    expired: { kind: 'ci', scope: ['shop', 'shop-*'] },
  })
  for (const change of [
    { ...old, aud: 'x' },
    { ...old, repository_id: '2' },
    { ...old, nbf: now + 60 },
    { exp: undefined },
  ])
    expect(await verify(await issuer.sign(claims(change)))).not.toHaveProperty('expired')
})

describe('keys', () => {
  const minute = 60_000

  test('are asked for once, and again for a key that is not known, once a minute', async () => {
    const old = await issuer.sign(claims())
    expect(await reason(old)).toBe('verified')
    await issuer.rotate()
    const fresh = await issuer.sign(claims())
    await expect(verify(fresh)).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '60' } })
    expect(await reason(old)).toBe('verified')
    clockMs = minute
    expect(await reason(fresh)).toBe('verified')
    expect(issuer.calls().filter((path) => path === '/keys')).toHaveLength(2)
  })

  test('are asked for at most once a minute by 300 junk tokens', async () => {
    expect(await reason(await issuer.sign(claims()))).toBe('verified')
    clockMs = minute
    const junk = await Promise.all(Array.from({ length: 300 }, (_, at) => issuer.sign(claims(), { kid: `junk ${at}` })))
    const answers = await Promise.allSettled(junk.map((token) => verify(token)))
    expect(
      answers
        .filter(({ status }) => status === 'fulfilled')
        .every((one) => 'value' in one && one.value.kind === 'refused'),
    ).toBe(true)
    expect(issuer.calls().filter((path) => path === '/keys')).toHaveLength(2)
    clockMs = 2 * minute - 1
    await expect(verify(junk[0] ?? '')).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } })
    expect(issuer.calls()).toHaveLength(3)
  })

  test('that are withdrawn are believed for ten minutes, and for a day while the issuer is away', async () => {
    const token = await issuer.sign(claims())
    expect(await reason(token)).toBe('verified')
    issuer.answer('away')
    clockMs = 11 * minute
    expect(await reason(token)).toBe('verified')
    clockMs = 24 * 60 * minute - 1
    expect(await reason(token)).toBe('verified')
    clockMs = 24 * 60 * minute
    await expect(verify(token)).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '10' } })
    await issuer.rotate()
    issuer.answer('well')
    clockMs += 10_000
    expect(await reason(token)).toBe('credential rejected: the ID token is not signed with a key of its issuer')
  })

  test.for([
    ['away', 'away'],
    ['redirects', 'redirect'],
    ['answers more than 256 KiB', 'too much'],
    ['answers no JSON', 'no json'],
    ['has a discovery document of another issuer', 'another issuer'],
    ['has keys without https', 'http keys'],
  ] as const)('of an issuer that %s are unknown: 503, never 401', async ([, how]) => {
    issuer.answer(how)
    const token = await issuer.sign(claims())
    await expect(verify(token)).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '10' } })
    issuer.answer('well')
    clockMs = 10_000
    expect(await reason(token)).toBe('verified')
  })

  test('of a kind that another algorithm needs are none', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'mixed' }
    issuer.publish({ ...jwk, alg: 'RS256' })
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', kid: 'mixed' }).sign(privateKey)
    expect(await reason(token)).toBe('credential rejected: the ID token is not signed with a key of its issuer')
  })
})
