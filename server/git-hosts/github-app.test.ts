import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Posted } from '../http/outgoing/post.ts'
import { gitHubHostOf, gitHubPagesOf } from './github-addresses.ts'
import { createGitHubApp } from './github-app.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = String(privateKey.export({ type: 'pkcs1', format: 'pem' }))
const startMs = Date.UTC(2026, 0, 1)
let nowMs = startMs
let calls: { path: string; authorization: string; body: unknown }[] = []
let answers: ((path: string) => Posted | undefined) | undefined
const answered = (status: number, body: object): Posted => ({
  kind: 'answered',
  status,
  text: JSON.stringify(body),
  retryAfterMs: undefined,
})
const anApp = (key = pem) =>
  createGitHubApp({
    settings: { id: '123', privateKey: () => key, apiUrl: 'https://api.example' },
    wallMs: () => nowMs,
    async call(url, { headers, body }) {
      const { pathname } = new URL(url)
      calls.push({ path: pathname, authorization: headers.authorization ?? '', body: JSON.parse(body ?? 'null') })
      const own = answers?.(pathname)
      if (own) return own
      if (pathname.endsWith('/installation')) return answered(200, { id: 7 })
      return answered(201, { token: `ghs_${calls.length}`, expires_at: new Date(nowMs + 3_600_000).toISOString() })
    },
  })

beforeEach(() => {
  nowMs = startMs
  calls = []
  answers = undefined
})

test('a token is for one repository and one permission, and the App signs for nine minutes', async () => {
  expect(await anApp().tokenFor('acme/shop', 'deployments')).toMatchObject({ token: 'ghs_2' })
  expect(calls.map(({ path, body }) => [path, body])).toEqual([
    ['/repos/acme/shop/installation', null],
    ['/app/installations/7/access_tokens', { repositories: ['shop'], permissions: { deployments: 'write' } }],
  ])
  const token = calls[0]?.authorization.replace('Bearer ', '') ?? ''
  const { payload, protectedHeader } = await jwtVerify(token, publicKey, { currentDate: new Date(nowMs) })
  expect({ ...payload, ...protectedHeader }).toEqual({
    iss: '123',
    iat: startMs / 1_000 - 60,
    exp: startMs / 1_000 + 540,
    alg: 'RS256',
    typ: 'JWT',
  })
})

test('a token is kept until five minutes before its end, for its repository and permission alone', async () => {
  const app = anApp()
  await Promise.all([app.tokenFor('acme/shop', 'contents'), app.tokenFor('acme/Shop', 'contents')])
  nowMs += 54 * 60_000
  expect(await app.tokenFor('acme/shop', 'contents')).toMatchObject({ token: 'ghs_2' })
  expect(app.isKept('ghs_2')).toBe(true)
  await app.tokenFor('acme/shop', 'deployments')
  await app.tokenFor('acme/web', 'contents')
  expect(calls).toHaveLength(6)
  nowMs += 2 * 60_000
  expect(app.isKept('ghs_2')).toBe(false)
  expect(await app.tokenFor('acme/shop', 'contents')).toMatchObject({ token: 'ghs_8' })
  expect(app.secrets()).toContain('ghs_2')
  nowMs += 5 * 60_000
  app.forget('ghs_8')
  expect(await app.tokenFor('acme/shop', 'contents')).toMatchObject({ token: 'ghs_10' })
  expect(app.secrets()).not.toContain('ghs_2')
})

describe('says what a person has to change:', () => {
  test.for<[string, string, number, RegExp]>([
    ['the App is not installed', '/installation', 404, /^GitHub App 123 is not installed on acme\/shop, or there is/],
    ['its key is not known', '/installation', 401, /^GitHub rejects the key of GitHub App 123: check GITHUB_APP_ID/],
    ['a permission is missing', '/access_tokens', 422, /^the installation .* lacks the permission deployments: write/],
    ['it is suspended', '/access_tokens', 403, /, or is suspended$/],
  ])('%s', async ([, path, status, error]) => {
    answers = (asked) => (asked.endsWith(path) ? answered(status, { message: 'no' }) : undefined)
    const outcome = await anApp().tokenFor('acme/shop', 'deployments')
    expect(outcome).toEqual({ kind: 'blocked', error: expect.stringMatching(error) })
  })

  test('its key cannot be read', async () => {
    const outcome = await anApp('no key').tokenFor('acme/shop', 'contents')
    expect(outcome).toMatchObject({ kind: 'blocked', error: expect.stringContaining('GITHUB_APP_PRIVATE_KEY') })
    expect(calls).toEqual([])
  })
})

test('what passes, passes, and is asked again', async () => {
  const app = anApp()
  answers = () => answered(503, {})
  expect(await app.tokenFor('acme/shop', 'contents')).toMatchObject({ kind: 'passing' })
  answers = () => answered(200, { id: 'seven' })
  expect(await app.tokenFor('acme/shop', 'contents')).toMatchObject({ kind: 'passing' })
  answers = undefined
  expect(await app.tokenFor('acme/shop', 'contents')).toMatchObject({ token: expect.any(String) })
})

test.for<[string, string, string]>([
  ['https://api.github.com', 'github.com', 'https://github.com'],
  ['https://api.acme.ghe.com', 'acme.ghe.com', 'https://acme.ghe.com'],
  ['https://github.example.com/api/v3', 'github.example.com', 'https://github.example.com'],
  ['https://github.example.com:8443/api/v3', 'github.example.com:8443', 'https://github.example.com:8443'],
])('the repositories of %s are on %s', ([apiUrl, host, pages]) => {
  expect([gitHubHostOf(apiUrl), gitHubPagesOf(apiUrl)]).toEqual([host, pages])
})
