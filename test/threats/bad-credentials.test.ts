import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CredentialWorld, startCredentialWorld } from '../support/credential-world.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { deployToken, withToken } from '../support/world.ts'
import { errorOf, textOf } from './answers.ts'
import { badInputs } from './rows.ts'

/** Base64 of 32 bytes, as the documentation makes one: its text is the key, not what it stands for. */
const jwtSecret = 'c2VjcmV0IG9mIHRoZXNlIHRlc3RzLCAzMiBieXRlcyE='
const now = Math.floor(Date.now() / 1000)
const claims = { sub: 'ci', exp: now + 3_600 }
const good = mintJwt(claims, jwtSecret)
const [header = '', payload = '', signature = ''] = good.split('.')
const jwt = (change: object, ...header: [object?]) => mintJwt({ ...claims, ...change }, jwtSecret, ...header)

let world: CredentialWorld
beforeAll(async () => {
  world = await startCredentialWorld(jwtSecret)
})
afterAll(() => world[Symbol.asyncDispose]())

type Shown = readonly [string, string][]
/** What is shown, and what the error says; 401 unless another status stands there. */
type Refused = readonly [what: string, headers: Shown, error: string | RegExp, status?: number]
const inAuthorization = (what: string, value: string, error: string | RegExp, status?: number): Refused => [
  what,
  [['Authorization', value]],
  error,
  ...(status === undefined ? ([] as const) : ([status] as const)),
]
const token = (value: string): [string, string] => ['Watcher-Deploy-Token', value]
const notOurs = 'the signature of the JWT does not match'

const rows: readonly (readonly [string, readonly Refused[]])[] = [
  [
    badInputs.B24,
    [
      ...['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearer a b'].map((value) =>
        inAuthorization(JSON.stringify(value), value, 'malformed Authorization header'),
      ),
      inAuthorization('bearer x', 'bearer x', 'not a JWT: it must be three base64url parts'),
      ['two headers', [0, 1].map((): [string, string] => ['Authorization', good]), 'malformed Authorization header'],
      inAuthorization('9 kB', `Bearer ${'a'.repeat(9_000)}`, 'headers are larger than 8 KiB', 431),
    ],
  ],
  [
    badInputs.B25,
    [
      inAuthorization('2 parts', `${header}.${payload}`, 'not a JWT'),
      inAuthorization('4 parts', `${good}.${signature}`, 'not a JWT'),
      inAuthorization('5 parts', `${good}.${signature}.${signature}`, 'not a JWT'),
      inAuthorization('blanks', `${header}. ${payload}.${signature}`, 'malformed Authorization header'),
      inAuthorization('padding', `${good}=`, 'not a JWT'),
      inAuthorization('not UTF-8', jwtOfBytes('fffe'), 'payload of the JWT is not a JSON object'),
      inAuthorization('not ASCII', `\xff.\xfe.\xfd`, 'not a JWT'),
      inAuthorization('64 kB', 'a'.repeat(65_536), 'headers are larger than 8 KiB', 431),
    ],
  ],
  [
    badInputs.B26,
    [
      ...['none', 'None', 'RS256', 'ES256'].map((alg) =>
        inAuthorization(alg, jwt({}, { alg }), 'algorithm not allowed'),
      ),
      ...[{ jwk: {} }, { jku: 'http://x' }, { x5u: 'http://x' }, { crit: ['exp'] }, { b64: false }].map((one) =>
        inAuthorization(JSON.stringify(one), jwt({}, { alg: 'HS256', ...one }), 'algorithm not allowed'),
      ),
    ],
  ],
  [
    badInputs.B27,
    [undefined, '9999999999', null, [], -1, now - 1].map((exp) =>
      inAuthorization(
        `exp ${JSON.stringify(exp) ?? 'missing'}`,
        jwt({ exp }),
        /credential rejected: exp (?:is|must|lies)/,
      ),
    ),
  ],
  [
    badInputs.B28,
    [
      inAuthorization('iat', jwt({ iat: now + 3_600 }), 'iat lies in the future'),
      inAuthorization('nbf', jwt({ nbf: now + 3_600 }), 'nbf lies in the future'),
      inAuthorization('iat, a text', jwt({ iat: String(now) }), 'iat must be a number'),
    ],
  ],
  [
    badInputs.B29,
    [
      inAuthorization('with nothing', mintJwt(claims, ''), notOurs),
      inAuthorization('with the deploy token', mintJwt(claims, deployToken), notOurs),
      inAuthorization('with the decoded secret', mintJwt(claims, Buffer.from(jwtSecret, 'base64').toString()), notOurs),
    ],
  ],
  [
    badInputs.B31,
    [
      ['another case', [token(deployToken.toUpperCase())], 'does not match'],
      ['a prefix', [token(deployToken.slice(0, -1))], 'does not match'],
      ['one more letter', [token(`${deployToken}x`)], 'does not match'],
      ['quoted', [token(`"${deployToken}"`)], 'does not match'],
      ['with a no-break space', [token(`${deployToken}\u00a0`)], 'does not match'],
      ['empty', [token('')], 'is empty'],
    ],
  ],
]

describe.for(rows)('%s', ([, inputs]) => {
  test.for(inputs)('%s', async ([, headers, error, status = 401]) => {
    const answer = await world.present(headers)
    expect([answer.status, errorOf(answer)]).toEqual([
      status,
      typeof error === 'string' ? expect.stringContaining(error) : expect.stringMatching(error),
    ])
    for (const secret of [deployToken, good, signature]) expect(textOf(answer)).not.toContain(secret)
  })
})

test(badInputs.B30, async () => {
  const bad = mintJwt(claims, 'another secret')
  const mixed: Shown[] = [
    [token(deployToken), ['Authorization', bad]],
    [['Authorization', good], token('wrong')],
  ]
  for (const headers of mixed) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.present(headers)))
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(answers[0]?.status).toBe(401)
  }
  expect((await world.present([token(deployToken), ['Authorization', good]])).status).toBe(409)
})

test(`${badInputs.B31} (in the query, where blanks count)`, async () => {
  for (const value of [`${deployToken}\n`, `${deployToken} `, ` ${deployToken}`]) {
    const answer = await world.present([], `?deploy_token=${encodeURIComponent(value)}`)
    expect([answer.status, errorOf(answer)]).toEqual([401, expect.stringContaining('does not match')])
  }
})

test(badInputs.B32, async () => {
  const query = (value: string) => `?deploy_token=${encodeURIComponent(value)}`
  expect((await world.present([token(deployToken)], query('wrong'))).status).toBe(401)
  expect((await world.present([token('wrong')], query(deployToken))).status).toBe(401)
  expect((await world.present([], `${query(deployToken)}&deploy_token=wrong`)).status).toBe(401)
  expect((await world.present(Object.entries(withToken), query(deployToken))).status).toBe(409)
})

function jwtOfBytes(hex: string): string {
  const signed = `${header}.${Buffer.from(hex, 'hex').toString('base64url')}`
  return `${signed}.${createHmac('sha256', jwtSecret).update(signed).digest('base64url')}`
}
