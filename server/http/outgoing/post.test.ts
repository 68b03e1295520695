import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPost } from './post.ts'

let written = 0
const gib = 1024 ** 3
const endings: Readonly<Record<string, RequestListener>> = {
  '/large': (_, response) => {
    const piece = Buffer.alloc(64 * 1024)
    const go = () => {
      while (written < gib && !response.destroyed) {
        written += piece.length
        if (!response.write(piece)) return void response.once('drain', go)
      }
      response.end()
    }
    go()
  },
  '/reset': (request) => request.socket.resetAndDestroy(),
  '/later': (_, response) => response.writeHead(429, { 'retry-after': '7' }).end(),
  '/elsewhere': (_, response) => response.writeHead(302, { location: '/large' }).end(),
}
const server = createServer((request, response) => endings[request.url ?? '']?.(request, response))
const { post, [Symbol.asyncDispose]: close } = createPost()
let port: number
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  await close()
  server.closeAllConnections()
  server.close()
})
const send = (path: string, host = '127.0.0.1', allowsPrivate = true) =>
  post(`http://${host}:${port}${path}`, { headers: {}, body: '{}', allowsPrivate })

test('of an answer of 1 GiB little is read', async () => {
  expect(await send('/large')).toMatchObject({ kind: 'answered', status: 200, text: '' })
  expect(written).toBeLessThan(64 * 1024 ** 2) // what buffers of the system took
})

test.for([
  ['a connection that is reset', '/reset', { kind: 'unanswered', error: 'no answer (ECONNRESET)' }],
  ['Retry-After', '/later', { kind: 'answered', status: 429, retryAfterMs: 7_000 }],
  ['a redirect, which is not followed', '/elsewhere', { kind: 'answered', status: 302 }],
] as const)('%s', async ([, path, expected]) => {
  expect(await send(path)).toMatchObject(expected)
})

test.for(['127.0.0.1', 'localhost', '[::ffff:7f00:1]', '2130706433', '0x7f.1', '0'])(
  '%s is refused without allow_private, by its address or by what its name leads to',
  async (host) => expect(await send('/later', host, false)).toMatchObject({ kind: 'refused' }),
)

test.for(['file:///etc/passwd', 'ftp://example.com/', 'http//x', ''])('%s is no address', async (url) =>
  expect(await post(url, { headers: {}, body: '', allowsPrivate: true })).toMatchObject({ kind: 'refused' }),
)
