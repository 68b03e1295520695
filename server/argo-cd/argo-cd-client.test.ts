import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createArgoCdClient } from './argo-cd-client.ts'
import { linkBaseOf } from './delivery-controller-settings.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function aServer(handler: Handler) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The server listens on TCP, so its address is of this type.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const aClient = (url: string, token: () => string = () => 'a.b.c') =>
  createArgoCdClient(
    {
      url,
      urlAlias: undefined,
      token,
      apiTimeoutMs: 2_000,
      apiRetries: 0,
      projects: ['p1', 'p2'],
      selector: 'a=b',
      caFile: undefined,
      skipTlsVerify: false,
    },
    () => 0,
  )

const answer =
  (status: number, body: unknown): Handler =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const shop = { name: 'shop', namespace: undefined, project: undefined }
const application = { metadata: { name: 'shop', namespace: 'argocd', uid: 'u', resourceVersion: '7' } }

describe('what the answer to a GET means', () => {
  test.for([
    { status: 200, body: application, kind: 'read' },
    { status: 401, body: { code: 16, message: 'invalid session' }, kind: 'unauthorized' },
    { status: 403, body: { code: 7, message: 'permission denied' }, kind: 'forbidden' },
    { status: 404, body: { code: 5, message: 'not found' }, kind: 'not_found' },
    { status: 404, body: 'Not Found', kind: 'unreachable' },
    { status: 200, body: '<html>log in</html>', kind: 'unreachable' },
    { status: 200, body: null, kind: 'unreachable' },
    { status: 200, body: {}, kind: 'unreachable' },
    { status: 200, body: { metadata: { name: 'other', namespace: 'argocd', uid: 'u' } }, kind: 'unreachable' },
    { status: 500, body: { message: 'boom' }, kind: 'unreachable' },
    { status: 504, body: 'gateway', kind: 'unreachable' },
  ])('$status $body.code $body is $kind', async ({ status, body, kind }) => {
    await using server = await aServer(answer(status, body))
    await using client = aClient(server.url)
    expect((await client.readApplication(shop)).kind).toBe(kind)
  })

  test('every recorded error body is understood without a throw', async () => {
    const recorded: readonly { status: number | null; body: unknown; request: string }[] = JSON.parse(
      readFileSync(new URL('../../test/fixtures/argocd/18-error-bodies/errors.json', import.meta.url), 'utf8'),
    )
    const gets = recorded.filter(
      ({ request, status }) => status !== null && request.startsWith('GET /api/v1/applications/shop01'),
    )
    expect(gets.length).toBeGreaterThan(5)
    for (const { status, body } of gets) {
      await using server = await aServer(answer(status ?? 500, typeof body === 'string' ? body : JSON.stringify(body)))
      await using client = aClient(server.url)
      const outcome = await client.readApplication({ ...shop, name: 'nobody' })
      expect(outcome.kind).not.toBe('read')
    }
  })
})

test.for(['.', '..'])('no path is asked for by the name %s, which would lead to another one', async (name) => {
  await using server = await aServer(answer(200, { items: [] }))
  await using client = aClient(server.url)
  expect(await client.readApplication({ ...shop, name })).toEqual({ kind: 'not_found' })
  expect(server.requests).toEqual([])
})

test('a redirect is not followed and the token stays with the configured host', async () => {
  await using elsewhere = await aServer(answer(200, application))
  await using server = await aServer((_, response) => response.writeHead(302, { location: elsewhere.url }).end())
  await using client = aClient(server.url)
  expect((await client.readApplication(shop)).kind).toBe('unreachable')
  expect(elsewhere.requests).toHaveLength(0)
})

test('an answer above 16 MiB is cut off', async () => {
  await using server = await aServer((_, response) => {
    const megabyte = Buffer.alloc(1024 * 1024, ' ')
    const more = () => {
      while (response.write(megabyte));
      response.once('drain', more)
    }
    more()
  })
  await using client = aClient(server.url)
  expect(await client.readApplication(shop)).toMatchObject({
    kind: 'unreachable',
    why: expect.stringContaining('larger'),
  })
})

test('a server that is silent or gone is unreachable, and no reason holds the token', async () => {
  await using silent = await aServer(() => {})
  const { url } = silent
  await using client = createArgoCdClient({
    url,
    urlAlias: undefined,
    token: () => 'se.cr.et',
    apiTimeoutMs: 100,
    apiRetries: 0,
    projects: [],
    selector: undefined,
    caFile: undefined,
    skipTlsVerify: false,
  })
  const outcome = await client.readApplication(shop)
  expect(outcome.kind).toBe('unreachable')
  expect(JSON.stringify(outcome)).not.toContain('se.cr.et')
  const gone = await aServer(() => {})
  await gone[Symbol.asyncDispose]()
  await using nowhere = aClient(gone.url)
  expect(await nowhere.readApplication(shop)).toEqual({ kind: 'unreachable', why: 'connection refused' })
})

test('of a rotated token that no header can hold, nothing is told but that', async () => {
  await using client = aClient('http://127.0.0.1:1', () => 'secret\u20ac')
  const stream = await client.openStream({ liveOnly: false, signal: AbortSignal.timeout(5_000) })
  for (const outcome of [await client.readApplication(shop), stream]) {
    expect(outcome).toEqual({
      kind: 'unreachable',
      why: 'the token holds characters that cannot be sent in an HTTP header',
    })
  }
})

test.for([401, 403, 500])('what an answer with %i repeats of the token is not told on', async (status) => {
  const token = 'secret/of+the=test'
  const forms = [token, encodeURIComponent(token), Buffer.from(`x:${token}`).toString('base64')]
  const message = `${'x'.repeat(250)} ${forms.join(' ')} at http://me:pass-of-the-test@argocd.example/`
  await using server = await aServer(answer(status, { code: 2, message }))
  await using client = aClient(server.url, () => token)
  const stream = await client.openStream({ liveOnly: false, signal: AbortSignal.timeout(5_000) })
  const told = JSON.stringify([await client.readApplication(shop), await client.probe(), stream])
  expect(told).not.toMatch(/secret|of.{1,3}the.{1,3}test|c2Vjcm|NlY3Jl|zZWNyZX|pass-of/)
})

test('calls carry the path prefix, namespace, project and the newest token', async () => {
  await using server = await aServer(answer(200, application))
  let token = 'one'
  await using client = aClient(`${server.url}/argo`, () => token)
  await client.readApplication({ name: 'shop', namespace: 'team-a', project: 'teams' })
  token = 'two'
  await client.readApplication(shop)
  expect(server.requests.map(({ url }) => url)).toEqual([
    '/argo/api/v1/applications/shop?appNamespace=team-a&project=teams',
    '/argo/api/v1/applications/shop',
  ])
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two'])
})

test('only a List, which is as large as the installation, is asked for packed', async () => {
  await using server = await aServer(({ headers }, response) => {
    const isPacked = headers['accept-encoding'] === 'gzip'
    const body = JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] })
    response.setHeader('content-type', 'application/json')
    if (isPacked) response.setHeader('content-encoding', 'gzip')
    response.end(isPacked ? gzipSync(body) : body)
  })
  await using client = aClient(server.url)
  expect(await client.listApplications()).toMatchObject({ kind: 'read' })
  await client.readApplication(shop)
  expect(server.requests.map(({ headers }) => headers['accept-encoding'])).toEqual(['gzip', 'identity'])
})

test('a refresh has a deadline of two seconds, and running into it is no failure', async () => {
  await using server = await aServer(answer(504, { code: 4, message: 'context deadline exceeded' }))
  await using client = aClient(server.url)
  expect(await client.refreshApplication(shop)).toEqual({ kind: 'asked' })
  expect(server.requests[0]?.headers['grpc-timeout']).toBe('2S')
  expect(server.requests[0]?.url).toContain('refresh=normal')
})

test('a List of all is narrowed by projects and selector, one by name is not; no item at all is an empty List', async () => {
  await using server = await aServer(answer(200, { metadata: { resourceVersion: '9' }, items: null }))
  await using client = aClient(server.url)
  expect(await client.listApplications()).toEqual({ kind: 'read', value: { version: 9, applications: [] } })
  await client.listApplications({ name: 'shop', namespace: undefined })
  expect(server.requests.map(({ url }) => url)).toEqual([
    '/api/v1/applications?projects=p1&projects=p2&selector=a%3Db',
    '/api/v1/applications?name=shop',
  ])
})

test.for([
  { body: { loggedIn: true, username: 'watcher' }, kind: 'read' },
  { body: {}, kind: 'unauthorized' },
])('the probe reads $body as $kind', async ({ body, kind }) => {
  await using server = await aServer(answer(200, body))
  await using client = aClient(server.url)
  expect((await client.probe()).kind).toBe(kind)
})

test('a failed call is tried again as often as the setting says', async () => {
  let calls = 0
  await using server = await aServer((request, response) => {
    calls += 1
    if (calls < 3) return answer(503, { message: 'busy' })(request, response)
    return answer(200, application)(request, response)
  })
  const settings = {
    url: server.url,
    urlAlias: undefined,
    token: () => 'a',
    apiTimeoutMs: 10_000,
    apiRetries: 3,
    projects: [],
    selector: undefined,
    caFile: undefined,
    skipTlsVerify: false,
  }
  await using client = createArgoCdClient(settings, () => 0)
  expect((await client.readApplication(shop)).kind).toBe('read')
  expect(calls).toBe(3)
})

test('the stream is asked for as server-sent events, and a refusal is told from a failure', async () => {
  await using server = await aServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(':\n')
  })
  await using client = aClient(server.url)
  const opening = await client.openStream({ liveOnly: true, signal: AbortSignal.timeout(5_000) })
  expect(opening.kind).toBe('open')
  expect(server.requests[0]?.headers.accept).toBe('text/event-stream')
  expect(server.requests[0]?.url).toContain('resourceVersion=0')
  await using refusing = await aServer(
    answer(401, 'data: {"error":{"grpc_code":16,"message":"no session information"}} \n\n\n'),
  )
  await using other = aClient(refusing.url)
  const refused = await other.openStream({ liveOnly: false, signal: AbortSignal.timeout(5_000) })
  expect(refused).toEqual({ kind: 'unauthorized', why: '401: no session information' })
})

test.for([
  { url: 'https://user:pass@argocd.example/argo/', alias: undefined, base: 'https://argocd.example/argo' },
  { url: 'http://argocd', alias: 'https://cd.example', base: 'https://cd.example' },
])('links for $url begin with $base', ({ url, alias, base }) => {
  expect(linkBaseOf({ url, urlAlias: alias })).toBe(base)
})

describe('the log of a Pod', () => {
  const recorded = (name: string) => {
    const file = new URL(`../../test/fixtures/argocd/01-healthy-helm/${name}.json`, import.meta.url)
    return JSON.parse(readFileSync(file, 'utf8')) as { status: number; body: unknown }
  }
  const frames = (body: unknown) => [body].flat().map((frame) => JSON.stringify(frame))
  const failure = { error: { grpc_code: 9, message: 'container "web" is waiting to start' } }
  const [line = ''] = frames(recorded('logs').body)

  test.for([
    {
      name: 'a recorded answer',
      status: 200,
      body: frames(recorded('logs').body).join('\n'),
      outcome: { kind: 'read', value: ['line 2: server started', 'line 3: server started'] },
    },
    {
      name: 'the recorded answer to a token without the right',
      status: recorded('logs-403').status,
      body: recorded('logs-403').body,
      outcome: { kind: 'forbidden' },
    },
    { name: 'the answer about an unknown Pod', status: 200, body: '', outcome: { kind: 'read', value: [] } },
    {
      name: 'a refusal of Kubernetes with a status of its own',
      status: 400,
      body: failure,
      outcome: { kind: 'unreachable', why: expect.stringContaining('waiting to start') },
    },
    {
      name: 'a refusal of Kubernetes as the only line',
      status: 200,
      body: JSON.stringify(failure),
      outcome: { kind: 'unreachable', why: 'container "web" is waiting to start' },
    },
    {
      name: 'lines that end in a failure, and in half a line',
      status: 200,
      body: [line, JSON.stringify(failure), '{"result":{"con'].join('\n'),
      outcome: { kind: 'read', value: ['line 2: server started'] },
    },
  ])('$name', async ({ status, body, outcome }) => {
    await using server = await aServer(answer(status, body))
    await using client = aClient(server.url)
    const pod = { namespace: 'team', name: 'shop-1' }
    const request = { pod, container: 'web', isPrevious: true, lines: 5 }
    expect(await client.readPodLog({ ...shop, project: 'p' }, request)).toEqual(outcome)
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/api/v1/applications/shop/logs?project=p&namespace=team&podName=shop-1&container=web&previous=true&tailLines=5',
    ])
  })
})
