import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { mintJwt } from '../../../test/support/mint-jwt.ts'
import { verifyJwt } from './jwt.ts'

const secret = 'a secret of more than thirty-two bytes'
const nowSeconds = 1_800_000_000
const rules = { secrets: [secret], issuer: undefined, audience: undefined, nowSeconds }
const exp = nowSeconds + 60

const reasonFor = async (token: string, change: Partial<typeof rules> | object = {}) => {
  const judgement = await verifyJwt(token, { ...rules, ...change })
  return judgement.kind === 'valid' ? 'valid' : judgement.reason
}

describe('the claims of a JWT (spec 2.5; T2, B27, B28)', () => {
  test.for<[unknown, string]>([
    [{}, 'exp is missing'],
    [{ exp: String(exp) }, 'exp must be a number'],
    [{ exp: null }, 'exp must be a number'],
    [{ exp: [] }, 'exp must be a number'],
    [{ exp: [exp] }, 'exp must be a number'],
    [{ exp: {} }, 'exp must be a number'],
    [{ exp: true }, 'exp must be a number'],
    ['{"exp":1e300}', 'exp must be a number'],
    ['{"exp":1e999}', 'exp must be a number'],
    [{ exp: -1 }, 'exp is in the past'],
    [{ exp: 0 }, 'exp is in the past'],
    [{ exp: nowSeconds - 1 }, 'exp is in the past'],
    [{ exp: nowSeconds }, 'exp is in the past'],
    [{ exp: nowSeconds + 0.5 }, 'valid'],
    [{ exp: nowSeconds + 1 }, 'valid'],
    [{ exp, iat: nowSeconds + 5 }, 'valid'],
    [{ exp, iat: nowSeconds + 6 }, 'iat is in the future'],
    [{ exp, iat: nowSeconds + 3600 }, 'iat is in the future'],
    [{ exp, iat: String(nowSeconds) }, 'iat must be a number'],
    [{ exp, iat: null }, 'iat must be a number'],
    [{ exp, nbf: nowSeconds + 5 }, 'valid'],
    [{ exp, nbf: nowSeconds + 6 }, 'nbf is in the future'],
    [{ exp, nbf: nowSeconds + 3600 }, 'nbf is in the future'],
    [{ exp, nbf: 'tomorrow' }, 'nbf must be a number'],
    [{ exp, nbf: [] }, 'nbf must be a number'],
    [`{"exp":${exp},"sub":"team\\u0000a"}`, 'sub of the JWT holds NUL or a lone surrogate'],
    [`{"exp":${exp},"sub":"team\\ud800"}`, 'sub of the JWT holds NUL or a lone surrogate'],
    [`{"exp":${exp},"sub":"team\\ud83d\\ude00"}`, 'valid'],
    ['{"exp":NaN}', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['null', 'not a JSON object'],
    ['"text"', 'not a JSON object'],
    ['', 'not a JWT'],
  ])('%j: %s', async ([claims, reason]) => {
    const token = mintJwt(typeof claims === 'string' ? claims : { ...(claims as object) }, secret)
    expect(await reasonFor(token)).toContain(reason)
  })

  test.for([
    ['expired and nothing else', { exp: nowSeconds - 1, sub: 'team' }, {}, { subject: 'team' }],
    ['expired, and of another issuer', { exp: nowSeconds - 1, iss: 'other' }, { issuer: 'ours' }, undefined],
    ['expired, and not valid yet', { exp: nowSeconds - 1, nbf: nowSeconds + 60 }, {}, undefined],
    ['of another issuer', { exp, iss: 'other' }, { issuer: 'ours' }, undefined],
  ] as const)('%s', async ([, claims, more, expired]) => {
    const result = await verifyJwt(mintJwt(claims, secret), { ...rules, ...more })
    expect(result).toMatchObject({ kind: 'invalid', ...(expired ? { expired } : {}) })
    expect('expired' in result).toBe(expired !== undefined)
  })

  test('sub, cluster and allowed_apps are informational', async () => {
    const token = mintJwt({ exp, sub: 'team', cluster: 7, allowed_apps: ['shop'] }, secret)
    expect(await verifyJwt(token, rules)).toEqual({ kind: 'valid', subject: 'team', allowedApps: ['shop'] })
    const odd = mintJwt({ exp, sub: 5, allowed_apps: 'shop' }, secret)
    expect(await verifyJwt(odd, rules)).toEqual({ kind: 'valid', subject: undefined, allowedApps: undefined })
  })

  test.for([
    { claims: { exp, iss: 'ci' }, reason: 'valid' },
    { claims: { exp, iss: 'other' }, reason: 'iss' },
    { claims: { exp }, reason: 'iss' },
  ])('with JWT_ISSUER=ci, $claims.iss is $reason', async ({ claims, reason }) => {
    expect(await reasonFor(mintJwt(claims, secret), { issuer: 'ci' })).toContain(reason)
  })

  test.for([
    { claims: { exp, aud: 'watcher' }, reason: 'valid' },
    { claims: { exp, aud: ['other', 'watcher'] }, reason: 'valid' },
    { claims: { exp, aud: ['other'] }, reason: 'aud' },
    { claims: { exp }, reason: 'aud' },
  ])('with JWT_AUDIENCE=watcher, $claims.aud is $reason', async ({ claims, reason }) => {
    expect(await reasonFor(mintJwt(claims, secret), { audience: 'watcher' })).toContain(reason)
  })
})

describe('the header and signature of a JWT (B25, B26, B29)', () => {
  test.for(['HS256', 'HS384', 'HS512'])('%s is accepted', async (alg) => {
    expect(await reasonFor(mintJwt({ exp }, secret, { alg }))).toBe('valid')
  })

  test.for([
    { alg: 'none' },
    { alg: 'None' },
    { alg: 'nOnE' },
    { alg: '' },
    { alg: null },
    { alg: ['HS256'] },
    {},
    { alg: 'hs256' },
    { alg: 'HS1' },
    { alg: 'RS256' },
    { alg: 'PS256' },
    { alg: 'ES256' },
    { alg: 'EdDSA' },
    { alg: 'dir' },
    { alg: 'HS256', jwk: { kty: 'oct', k: 'AA' } },
    { alg: 'HS256', jku: 'https://evil.example/keys' },
    { alg: 'HS256', x5u: 'https://evil.example/cert' },
    { alg: 'HS256', x5c: ['AA'] },
    { alg: 'HS256', crit: ['exp'] },
    { alg: 'HS256', crit: ['b64'], b64: false },
    { alg: 'HS256', b64: false },
  ])('%j: algorithm not allowed', async (header) => {
    expect(await reasonFor(mintJwt({ exp }, secret, header))).toContain('algorithm not allowed')
  })

  test('a token without a signature is refused, whatever its alg says', async () => {
    const [header, payload] = mintJwt({ exp }, secret).split('.')
    expect(await reasonFor(`${header}.${payload}.`)).toContain('signature')
    const none = mintJwt({ exp }, secret, { alg: 'none' }).split('.')
    expect(await reasonFor(`${none[0]}.${none[1]}.`)).toContain('algorithm not allowed')
  })

  const valid = mintJwt({ exp }, secret)
  const [head, body, signature] = valid.split('.')
  test.for([
    `${head}.${body}`,
    `${head}.${body}.${signature}.x`,
    `${head}.${body}.${signature}.x.y`,
    `${head}..${signature}`,
    `.${body}.${signature}`,
    '..',
    ' ',
    `${head}. ${body}.${signature}`,
    `${valid}=`,
    `${valid}\n`,
    `${head}.${body}=.${signature}`,
    `{"payload":"${body}","signatures":[]}`,
    `é.${body}.${signature}`,
    `${Buffer.from([0xff, 0xfe]).toString('base64url')}.${body}.${signature}`,
    `${'a'.repeat(65_536)}.${body}.${signature}`,
  ])('not three clean parts: case %#', async (token) => {
    expect(await reasonFor(token)).toContain('not a JWT')
  })

  test('a payload that is not UTF-8 is refused', async () => {
    const signed = `${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}`
    const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
    expect(await reasonFor(token)).toContain('not a JSON object')
  })

  test('only the text of the secret verifies: not the empty key, nor its base64-decoded bytes', async () => {
    const encoded = Buffer.from('thirty-two bytes of random data!').toString('base64')
    const decodedKey = Buffer.from(encoded, 'base64').toString('utf8')
    expect(await reasonFor(mintJwt({ exp }, ''))).toContain('signature')
    expect(await reasonFor(mintJwt({ exp }, decodedKey), { secrets: [encoded] })).toContain('signature')
    expect(await reasonFor(mintJwt({ exp }, encoded), { secrets: [encoded] })).toBe('valid')
  })

  test('the previous secret is accepted beside the current one', async () => {
    const token = mintJwt({ exp }, 'the old secret')
    expect(await reasonFor(token, { secrets: [secret, 'the old secret'] })).toBe('valid')
    expect(await reasonFor(token)).toContain('signature')
  })

  test('an expired token with the previous secret names exp, not the signature', async () => {
    const token = mintJwt({ exp: 0 }, 'the old secret')
    expect(await reasonFor(token, { secrets: [secret, 'the old secret'] })).toContain('exp')
  })

  test('one changed character of the payload breaks the signature', async () => {
    const forged = Buffer.from(JSON.stringify({ exp: exp + 1 })).toString('base64url')
    expect(await reasonFor(`${head}.${forged}.${signature}`)).toContain('signature')
  })
})
