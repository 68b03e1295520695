import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type RequestListener, type Server } from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { NoAnswerError } from './connection-errors.ts'
import { createHttp, type Http } from './http.ts'

const fixture = (name: string) => readFileSync(new URL(`../../test/fixtures/tls/${name}.pem`, import.meta.url), 'utf8')
const [certificate, key] = [fixture('certificate'), fixture('key')]

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}
const plain = async (handle: RequestListener) => `http://127.0.0.1:${await listening(http.createServer(handle))}`
const secure = async (handle: RequestListener) =>
  `https://127.0.0.1:${await listening(https.createServer({ cert: certificate, key }, handle) as unknown as Server)}`

function open(server: string, options: Partial<Parameters<typeof createHttp>[0]> = {}): Http {
  const client = createHttp({ server: new URL(server), variables: {}, ...options })
  closing.push(client.close)
  return client
}
const get = (client: Http, timeoutMs = 5_000, path = '/api') =>
  client.send({ path, timeoutMs, headers: { 'x-token': 't' } })
const failure = async (answer: Promise<unknown>) => (await answer.catch((error: unknown) => error)) as NoAnswerError
const ok: RequestListener = (request, response) => response.end(`${request.method} ${request.url}`)

/** A proxy that tunnels and forwards, and writes down what it is asked. */
async function startProxy(status = 200) {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    request.pipe(http.request(request.url ?? '', (answer) => answer.pipe(response)))
  })
  server.on('connect', (request, client) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    const [host, port] = (request.url ?? '').split(':')
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const target = connectSocket(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(client).pipe(target)
    })
    closing.push(() => target.destroy())
  })
  return { url: `127.0.0.1:${await listening(server)}`, asked }
}

describe('https', () => {
  test('an authority of its own is trusted by --ca-file alone', async () => {
    const server = await secure(ok)
    expect(await failure(get(open(server)))).toMatchObject({
      isPermanent: true,
      message: expect.stringMatching(
        /^https:\/\/127\.0\.0\.1:\d+: the certificate is not trusted: .*; --ca-file names further authorities$/,
      ),
    })
    expect((await get(open(server, { authorities: certificate }))).text).toBe('GET /api')
  })

  test('a certificate for another name is refused, whoever signed it', async () => {
    const server = (await secure(ok)).replace('127.0.0.1', 'localhost')
    expect(await failure(get(open(server, { authorities: certificate })))).toMatchObject({
      isPermanent: true,
      message: expect.stringMatching(/: the certificate is not trusted: [^;]*altnames[^;]*$/),
    })
  })

  test('goes through the tunnel of a proxy, whose credential the server does not see', async () => {
    const proxy = await startProxy()
    const headers: string[] = []
    const server = await secure((request, response) => {
      headers.push(...Object.keys(request.headers))
      response.end('here')
    })
    const client = open(server, {
      authorities: certificate,
      variables: { HTTPS_PROXY: `http://ada:p%40ss@${proxy.url}` },
    })
    expect((await get(client)).text).toBe('here')
    const basic = Buffer.from('ada:p@ss').toString('base64')
    expect(proxy.asked).toEqual([`CONNECT ${new URL(server).host} Basic ${basic}`])
    expect(headers).toContain('x-token')
    expect(headers).not.toContain('proxy-authorization')
  })

  test.for([
    [407, true],
    [502, false],
  ] as const)('a proxy that answers %i is named; permanent: %s', async ([status, isPermanent]) => {
    const proxy = await startProxy(status)
    const answer = get(open('https://watcher.invalid', { variables: { HTTPS_PROXY: `http://${proxy.url}` } }))
    expect(await failure(answer)).toMatchObject({
      isPermanent,
      message: `proxy ${proxy.url}: CONNECT returned ${status}`,
    })
  })

  test('a proxy that is away is named', async () => {
    const answer = get(open('https://watcher.invalid', { variables: { HTTPS_PROXY: 'http://127.0.0.1:1' } }))
    expect(await failure(answer)).toMatchObject({
      isPermanent: false,
      message: expect.stringContaining('proxy 127.0.0.1:1: '),
    })
  })

  test('a proxy that does not answer is left when the client closes', async () => {
    const asked = Promise.withResolvers<Socket>()
    const proxy = createServer((socket) => void socket.once('data', () => asked.resolve(socket)))
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    closing.push(() => proxy.close())
    const { port } = proxy.address() as AddressInfo
    const client = open('https://watcher.invalid', { variables: { HTTPS_PROXY: `127.0.0.1:${port}` } })
    const answer = failure(get(client, 60_000))
    const left = once((await asked.promise).resume(), 'close')
    client.close()
    await left
    expect(await answer).toMatchObject({ message: expect.stringContaining('socket hang up') })
  })

  test('a server without TLS is told apart', async () => {
    const server = (await plain(ok)).replace('http:', 'https:')
    expect(await failure(get(open(server)))).toMatchObject({
      isPermanent: true,
      message: expect.stringContaining('does not speak TLS'),
    })
  })
})

test('http goes to its proxy with the whole address', async () => {
  const proxy = await startProxy()
  const server = await plain(ok)
  expect((await get(open(server, { variables: { HTTP_PROXY: `http://${proxy.url}` } }))).text).toBe('GET /api')
  expect(proxy.asked).toEqual([`GET ${server}/api`])
})

test('the path of the address stands in front', async () => {
  expect((await get(open(`${await plain(ok)}/watcher`))).text).toBe('GET /watcher/api')
})

test.for([
  ['the same path', '/api?wait=50', ''],
  ['a path in front', '/watcher/api', '/watcher'],
  ['a sign-in page', '/authorize?state=se-cret', '/authorize'],
] as const)(
  'a redirect to %s is an error that names the new address, and nothing is sent there',
  async ([, location, named]) => {
    const visits: string[] = []
    const other = await plain((request, response) => {
      visits.push(request.url ?? '')
      response.end()
    })
    const server = await plain((_request, response) => {
      response.writeHead(301, { location: `${other}${location}` }).end()
    })
    expect(await failure(get(open(server), 5_000, '/api?wait=50'))).toMatchObject({
      isPermanent: true,
      message: `${server} redirects to ${other}${named} (301): give the address that answers itself`,
    })
    expect(visits).toEqual([])
  },
)

type Row = readonly [what: string, handle: RequestListener, message: string]

describe('asking again may help', () => {
  test.for<Row>([
    ['a cut connection', (_request, response) => void response.destroy(), 'the connection was cut'],
    [
      'an answer that is cut in the middle',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('half')
        setTimeout(() => response.destroy(), 20)
      },
      'the connection was cut',
    ],
    ['no answer in time', () => undefined, 'no answer in time'],
    [
      'an answer that never ends',
      (_request, response) => void response.writeHead(200).write('half'),
      'no answer in time',
    ],
  ])('%s', async ([, handle, message]) => {
    const error = await failure(get(open(await plain(handle)), 300))
    expect(error).toBeInstanceOf(NoAnswerError)
    expect(error).toMatchObject({ isPermanent: false, message: expect.stringContaining(message) })
  })

  test('nobody listens', async () => {
    expect(await failure(get(open('http://127.0.0.1:1')))).toMatchObject({
      isPermanent: false,
      message: 'http://127.0.0.1:1: connection refused',
    })
  })
})

test('a name that does not exist is permanent', async () => {
  expect(await failure(get(open('http://watcher.invalid')))).toMatchObject({
    message: expect.stringMatching(/host name is unknown|name server/),
  })
})

test('an answer larger than any of the service is not read to its end', async () => {
  const server = await plain((_request, response) => {
    const write = (): void =>
      void (response.write('x'.repeat(1_000_000)) ? setImmediate(write) : response.once('drain', write))
    write()
  })
  expect(await failure(get(open(server)))).toMatchObject({
    message: expect.stringContaining('the answer is too large'),
  })
})

test('an interruption ends a request', async () => {
  const interruption = new AbortController()
  const client = open(await plain(() => interruption.abort()))
  const answer = client.send({ path: '/', timeoutMs: 5_000, signal: interruption.signal })
  expect(await failure(answer)).toMatchObject({ name: 'AbortError' })
})
