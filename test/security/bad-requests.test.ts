import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aTask, type Service, startService } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'
import { errorOf, idOf } from './answers.ts'
import { injections } from './hostile-texts.ts'
import { openStreams } from './slow-clients.ts'

let world: World
let id: string
beforeAll(async () => {
  world = await startWorld()
  id = idOf(await world.service.submitTask(aTask({ app: 'gone' })))
  await world.service.waitForEnd(id)
})
afterAll(() => world[Symbol.asyncDispose]())

const request = (path: string, init: RequestInit = {}) => world.service.request(path, init)
const list = (query: string) => request(`/api/v1/tasks?${query}`)
const withHeaders = (headers: Record<string, string>, method = 'GET') => ({ method, headers })

test('an unsupported method is 405 with Allow, and an unknown route is 404 as JSON (B19)', async () => {
  const wrong = await request('/api/v1/tasks', withHeaders({ accept: 'text/html' }, 'PUT'))
  expect(wrong).toMatchObject({ status: 405, body: { error: expect.stringContaining('use GET, HEAD, POST') } })
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST')
  const unknown = await request('/api/v1/nothing', withHeaders({ accept: 'text/html' }))
  expect(unknown).toMatchObject({ status: 404, body: { error: expect.any(String) } })
})

test.for(['POST', 'DELETE'])('the lock is 404 without an identity provider (B20): %s', async (method) => {
  const answer = await request('/api/v1/deploy-lock', { method })
  expect(answer).toMatchObject({ status: 404, body: { error: `no route for ${method} /api/v1/deploy-lock` } })
})

describe('an invalid task id is 404 (B21)', () => {
  const ids = ['not-a-uuid', 'x'.repeat(36), '..%2f', '00000000-0000-0000-0000-000000000000']
  test.for(ids)('%s', async (one) => {
    for (const suffix of ['', '/events'])
      expect(await request(`/api/v1/tasks/${one}${suffix}`)).toMatchObject({
        status: 404,
        body: { error: 'task not found', id: decodeURIComponent(one) },
      })
  })
})

describe('a list parameter out of range is limited, one of a wrong type is 400, an unknown one is ignored (B22)', () => {
  test.for([
    ...['limit=0', 'limit=-1', 'limit=1000000000', 'limit=99999999999999999999', 'limit=-99999999999999999999'],
    ...['limit=', 'unknown=1', 'offset=100000'],
  ])('%s is good', async (query) => {
    expect((await list(query)).status).toBe(200)
  })
  test.for([
    ['limit=abc', 'limit: must be a whole number'],
    ['limit=-', 'limit: must be a whole number'],
    ['offset=-1', 'offset: must be a whole number'],
    ['offset=x', 'offset: must be a whole number'],
    ['limit=1&limit=2', 'limit: must be given once'],
    ['cursor=junk', 'cursor: must be a next_cursor of this list'],
    ['offset=100001', 'offset: must be at most 100000: use cursor'],
    ['offset=99999999999999999999', 'offset: must be at most 100000: use cursor'],
    ['cursor=zzzzzzzzz-ffffffffffffffffffffffffffffffff&offset=0', 'cursor: must not be combined with offset'],
    ['from_timestamp=2&to_timestamp=1', 'from_timestamp: must not be later'],
    ['from_timestamp=1e300', 'from_timestamp: must be a number of Unix seconds'],
    ['to_timestamp=1e300', 'to_timestamp: must be a number of Unix seconds'],
    ['status=nonsense', 'unsupported status filter'],
    ['status=failed,nonsense', 'unsupported status filter'],
    ['status=failed,', 'unsupported status filter'],
  ] as const)('%s is 400', async ([query, error]) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } })
  })
})

test('SQL in a filter finds nothing (B23)', async () => {
  for (const text of ["%' OR 1=1--", ...injections.slice(0, 10)])
    expect(await list(`app=${encodeURIComponent(text)}`)).toMatchObject({ status: 200, body: { tasks: [] } })
  expect(await list('app=%00')).toMatchObject({ status: 400, body: { error: expect.stringContaining('app: ') } })
})

describe('a change from a foreign origin is 403 (B33)', () => {
  const host = () => new URL(world.service.url).host
  const origins = () => ['https://evil.example', 'null', `http://${host()}.evil.example`]
  const json = { 'content-type': 'application/json' }
  const changes = (): [string, string, RequestInit][] => [
    ['POST', '/api/v1/tasks', { headers: json, body: JSON.stringify(aTask({ app: 'foreign' })) }],
    ['DELETE', `/api/v1/tasks/${id}`, { headers: withToken }],
    ['POST', '/api/v1/deploy-lock', {}],
    ['DELETE', '/api/v1/deploy-lock', {}],
    ['POST', '/auth/logout', {}],
  ]
  test('each of them', async () => {
    for (const origin of origins())
      for (const [method, path, init] of changes()) {
        const answer = await request(path, { ...init, method, headers: { ...init.headers, origin } })
        expect([origin, method, path, answer.status]).toEqual([origin, method, path, 403])
        expect(errorOf(answer)).toContain('cross-origin')
      }
    expect(await list('app=foreign')).toMatchObject({ body: { total: 0 } })
  })
  test('our own pages may', async () => {
    const [[method, path, init] = ['', '', {}]] = changes()
    const answer = await request(path, { ...init, method, headers: { ...init.headers, origin: world.service.url } })
    expect(answer.status).toBe(202)
  })
})

describe('a stream of a foreign origin is 403, without a needed session 401, and one too many 429 (B38)', () => {
  const stream = { accept: 'text/event-stream' }
  test.for(['/api/v1/events', '/api/v1/tasks/ID/events'])('a page of another origin at %s', async (path) => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])
      expect(await request(path.replace('ID', id), withHeaders({ ...stream, ...headers }))).toMatchObject({
        status: 403,
        body: { error: expect.stringContaining('cross-origin') },
      })
  })

  test('without a session: 401 where reading is closed, and only there', async () => {
    const idp = { IDP_ENABLED: 'true', IDP_ISSUER_URL: 'http://127.0.0.1:1', IDP_CLIENT_ID: 'watcher' }
    const settings = { ...idp, IDP_REQUIRE_READ_AUTH: 'true', WATCHER_DEPLOY_TOKEN: withToken['Watcher-Deploy-Token'] }
    await using closed = await startService({ settings })
    const task = idOf(await closed.submitTask(aTask({ app: 'gone' })))
    const statusOf = async (service: Service, path: string, headers: Record<string, string> = {}) => {
      const leaving = new AbortController()
      const init = { headers: { ...stream, ...headers }, signal: leaving.signal }
      const { status } = await fetch(`${service.url}${path}`, init)
      leaving.abort()
      return status
    }
    for (const path of ['/api/v1/events', `/api/v1/tasks/${task}/events`]) {
      expect(await closed.request(path, { headers: stream })).toMatchObject({
        status: 401,
        body: { error: expect.stringContaining('no credential was given') },
      })
      expect(await statusOf(closed, path, { cookie: `watcher-session=${'a'.repeat(43)}` })).toBe(401)
      expect(await statusOf(closed, path, withToken)).toBe(200)
    }
    expect(await statusOf(world.service, '/api/v1/events')).toBe(200)
  })

  test('one more than 100 from one client, where nothing is set', async () => {
    const port = Number(new URL(world.service.url).port)
    const { statuses, leave } = await openStreams(port, 100, '')
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await request('/api/v1/events', { headers: stream })).toMatchObject({
      status: 429,
      body: { error: 'too many event streams are open' },
    })
    leave()
  })

  test('one more than STREAMS_PER_CLIENT, whose place is free again when another has gone', async () => {
    await using service = await startService({ settings: { STREAMS_PER_CLIENT: '3' } })
    const open = async () => {
      const leaving = new AbortController()
      const { status, headers } = await fetch(`${service.url}/api/v1/events`, {
        headers: stream,
        signal: leaving.signal,
      })
      return { status, retryAfter: headers.get('retry-after'), leave: () => leaving.abort() }
    }
    const [first, ...others] = await Promise.all([open(), open(), open()])
    expect([first, ...others].map((one) => one?.status)).toEqual([200, 200, 200])
    expect(await open()).toMatchObject({ status: 429, retryAfter: '30' })
    first?.leave()
    await expect.poll(async () => (await open()).status).toBe(200)
    for (const { leave } of others) leave()
  })
})
