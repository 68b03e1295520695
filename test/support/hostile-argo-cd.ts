import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { aRawApplication } from './application-builder.ts'

/** How a server answers that means no good, or is broken. `target` is another server, which must never hear of the token. */
export type Evil = (response: ServerResponse, app: string, target: string) => void

const json = (response: ServerResponse, body: unknown) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
/** What a finished rollout looks like, so that believing any of it would be a wrong verdict. */
export const finished = (name: string, more: { metadata?: object; status?: object } = {}) =>
  aRawApplication({
    images: [`registry.example/${name}:v2`],
    metadata: { name, ...more.metadata },
    status: { controllerNamespace: 'argocd', ...more.status },
  })
const without = (name: string, part: string) => ({ ...finished(name), [part]: undefined })
const megabyte = Buffer.alloc(1024 * 1024, ' ')
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))

export const evils: Readonly<Record<string, Evil>> = {
  'an endless body': (response) => {
    const more = () => {
      while (response.write(megabyte));
      response.once('drain', more)
    }
    more()
  },
  'a redirect elsewhere': (response, app, target) =>
    response.writeHead(302, { location: `${target}/api/v1/applications/${app}` }).end(),
  'a permanent redirect elsewhere': (response, app, target) =>
    response.writeHead(308, { location: `${target}/${app}` }).end(),
  'another application': (response, app) => json(response, finished(`${app}-other`)),
  'a namesake in another namespace': (response, app) =>
    json(response, finished(app, { metadata: { namespace: 'evil' } })),
  'HTML with status 200': (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Sign in</h1>'),
  'an empty object': (response) => json(response, {}),
  null: (response) => json(response, null),
  'a list': (response) => json(response, [[], {}]),
  'nothing at all': (response) => response.writeHead(200).end(),
  'no status': (response, app) => json(response, without(app, 'status')),
  'no spec': (response, app) => json(response, { ...finished(app, { status: { sync: {} } }), spec: null }),
  'no images': (response, app) => json(response, finished(app, { status: { summary: {} } })),
  'wrong types everywhere': (response, app) =>
    json(
      response,
      finished(app, {
        status: { sync: 'Synced', health: ['Healthy'], summary: { images: { 0: 'x' } }, conditions: 7 },
      }),
    ),
  'a gzip bomb': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    response.end(bomb)
  },
  'a broken encoding': (response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' }).end('no brotli'),
  'a flood of headers': (response) => {
    for (let index = 0; index < 2_000; index += 1) response.setHeader(`x-flood-${index}`, 'y'.repeat(100))
    response.end('{}')
  },
  'one byte a second': (response, app) => {
    const bytes = Buffer.from(JSON.stringify(finished(app)))
    let at = 0
    const timer = setInterval(() => response.write(bytes.subarray(at, ++at)), 1_000)
    response.on('close', () => clearInterval(timer))
  },
  'no answer': () => {},
  'a reset': (response) => response.socket?.resetAndDestroy(),
  'half an answer': (response, app) => {
    const text = JSON.stringify(finished(app))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
    response.write(text.slice(0, text.length / 2), () => response.destroy())
  },
  'brackets without end': (response) => json(response, '['.repeat(8_000_000)),
  'names of prototypes': (response, app) =>
    json(
      response,
      JSON.stringify(finished(app, { status: { sync: {} } })).replace(
        '"sync":{}',
        '"__proto__":{"sync":{"status":"Synced"}},"constructor":{"prototype":{}}',
      ),
    ),
  'texts that no database stores': (response, app) =>
    json(
      response,
      finished(app, {
        metadata: { annotations: { 'a\0': '\ud800' } },
        status: { sync: { status: 'Syn\0ced\udfff', revision: '\0' }, summary: { images: ['\0', '\ud800'] } },
      }),
    ),
  'numbers that are none': (response, app) =>
    json(
      response,
      JSON.stringify(finished(app, { status: { sync: {} } })).replace(
        /"resourceVersion":"\d+"/,
        '"resourceVersion":1e999',
      ),
    ),
  'a failure of 20 MB': (response) => response.writeHead(500).end(Buffer.alloc(20 * 1024 * 1024, 'e')),
  'no HTTP': (response) => response.socket?.end('SMTP 220 hello\r\n\r\n'),
  'a protocol that was not asked for': (response) =>
    response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
}

const userInfo = '/api/v1/session/userinfo'

/** A server in Argo CD's place. Everything but the token probe is in the hands of the test. */
export async function startHostileArgoCd(
  answer: (app: string, response: ServerResponse, request: IncomingMessage) => void,
) {
  const streams = new Set<ServerResponse>()
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://argo')
    response.on('error', () => {})
    if (pathname === userInfo) return json(response, { loggedIn: true })
    if (pathname === '/api/v1/applications') return json(response, { metadata: { resourceVersion: '1' }, items: null })
    if (!pathname.startsWith('/api/v1/stream/')) return answer(pathname.split('/')[4] ?? '', response, request)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    response.write(':\n')
    streams.add(response.on('close', () => streams.delete(response)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    streams: () => streams.size,
    /** Sends an event to everybody who listens. */
    send(event: string) {
      for (const stream of streams) stream.write(`data: ${event} \n\n\n`)
    },
    json,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const seen = (application: unknown) => JSON.stringify({ result: { type: 'MODIFIED', application } })
