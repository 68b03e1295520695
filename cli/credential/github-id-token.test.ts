import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createHttp } from '../http/http.ts'
import { requestGithubIdToken } from './github-id-token.ts'
import { answer, startEndpoint } from './start-endpoint.ts'

const token = 'head.body.signature'
const success = answer(200, JSON.stringify({ value: token }))
const requestToken = 'se-cret'

function request(requestUrl: string, variables: Record<string, string> = {}) {
  const open = (server: URL) => createHttp({ server, variables })
  const audience = 'https://watcher.example/a b&c'
  return requestGithubIdToken({ requestUrl, requestToken, audience, open, signal: new AbortController().signal })
}
const failure = async (requestUrl: string) => {
  const error = await request(requestUrl).then(
    () => expect.unreachable(),
    (reason: Error) => reason,
  )
  expect(error.message).toMatch(/^no ID token from GitHub Actions: .*; --no-token sends no credential$/)
  expect(JSON.stringify([error.message, error])).not.toContain(requestToken)
  return error
}

test.for([
  ['/token?api-version=2.0', '/token?api-version=2.0&audience=https%3A%2F%2Fwatcher.example%2Fa%20b%26c'],
  ['/token', '/token?audience=https%3A%2F%2Fwatcher.example%2Fa%20b%26c'],
] as const)('asks %s for the audience, with the request token', async ([path, url]) => {
  await using endpoint = await startEndpoint(success)
  expect(await request(`${endpoint.address}${path}`)).toBe(token)
  expect(endpoint.requests).toMatchObject([
    { method: 'GET', url, headers: { accept: 'application/json', authorization: `bearer ${requestToken}` } },
  ])
})

test('goes through the proxy', async () => {
  await using endpoint = await startEndpoint(success)
  expect(await request('http://runner.invalid/token', { HTTP_PROXY: endpoint.address })).toBe(token)
  expect(endpoint.requests).toMatchObject([
    { url: expect.stringMatching(/^http:\/\/runner\.invalid\/token\?audience=/) },
  ])
})

describe('asks again', () => {
  test.for([
    ['after 500', answer(500)],
    ['after 429', answer(429)],
    ['after a cut connection', (_request: unknown, response: { destroy(): void }) => void response.destroy()],
  ] as const)('%s', async ([, first]) => {
    await using endpoint = await startEndpoint(first as RequestListener, success)
    expect(await request(endpoint.address)).toBe(token)
    expect(endpoint.requests).toHaveLength(2)
  })

  test('three times', async () => {
    await using endpoint = await startEndpoint(answer(503))
    expect(await failure(endpoint.address)).toMatchObject({
      name: 'NoAnswerError',
      message: expect.stringContaining('503'),
    })
    expect(endpoint.requests).toHaveLength(3)
  })
})

describe('ends with 4 at once', () => {
  test.for([
    ['403', answer(403, `{"message":"${requestToken}"}`), /returned 403;/],
    ['404', answer(404), /returned 404;/],
    ['a page', answer(200, '<html>'), /an answer without a token;/],
    ['no token', answer(200, '{}'), /an answer without a token;/],
    ['null', answer(200, 'null'), /an answer without a token;/],
    ['a token that is no JWT', answer(200, '{"value":"a b"}'), /an answer without a token;/],
  ] as const)('%s', async ([, handle, words]) => {
    await using endpoint = await startEndpoint(handle)
    const error = await failure(endpoint.address)
    expect(error).toMatchObject({ code: 4 })
    expect(error.message).toMatch(words)
    expect(endpoint.requests).toHaveLength(1)
  })

  test('a redirect: the request token goes nowhere else', async () => {
    await using other = await startEndpoint(success)
    await using endpoint = await startEndpoint(answer(302, '', { location: other.address }))
    const error = await failure(endpoint.address)
    expect(error).toMatchObject({ code: 4, message: expect.stringContaining(`${endpoint.address} redirects (302)`) })
    expect([endpoint.requests.length, other.requests.length]).toEqual([1, 0])
  })

  test('what is not an address', async () => {
    expect(await failure('runner.example')).toMatchObject({ code: 4 })
  })
})
