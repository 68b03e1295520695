import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskSubmission } from '../../../contract/task.ts'
import { quietHttpServer } from '../../../test/support/quiet-http-server.ts'
import type { HttpServer } from './http-server.ts'

const webFolder = mkdtempSync(join(tmpdir(), 'watcher-web-'))
let app: HttpServer
let port: number
let finishSlow: () => void

beforeAll(async () => {
  await writeFile(join(webFolder, 'index.html'), 'the UI')
  app = quietHttpServer({ webFolder })
  app.post('/api/v1/tasks', { bodyLimit: 1024 * 1024, schema: { body: TaskSubmission } }, async () => ({ id: '1' }))
  app.get('/api/v1/deploy-lock', async () => false)
  app.get(
    '/api/v1/slow',
    () =>
      new Promise((resolve) => {
        finishSlow = () => resolve({ done: true })
      }),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port // a TCP server has no other kind of address
})
afterAll(async () => {
  await app.close()
  rmSync(webFolder, { recursive: true })
})

/** Writes bytes as they are and reads until the server closes the connection. */
const exchange = (...chunks: (string | Buffer | Promise<string>)[]) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (text === '') reject(error)
    })
    socket.on('close', () => {
      const [head = '', ...rest] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), body: rest.join('\r\n\r\n') })
    })
    void (async () => {
      for (const chunk of chunks) socket.write(await chunk)
    })()
  })

/** Settles when the server has answered a request that is yet to come. */
async function nextAnswer(): Promise<void> {
  const [, response] = await once(app.server, 'request')
  if (!response.writableFinished) await once(response, 'finish')
}

const head = (line: string, ...headers: string[]) => `${[line, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`
const isAlive = async () => (await fetch(`http://127.0.0.1:${port}/api/v1/deploy-lock`)).status === 200

describe('malformed HTTP is 400 or 431, and the process stays alive (B39; and other malformed HTTP)', () => {
  const get = 'GET /api/v1/deploy-lock HTTP/1.1'
  const post = 'POST /api/v1/tasks HTTP/1.1'
  test.for<[string, string, number]>([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['an unknown version', head('GET / HTTP/9.9'), 400],
    ['a header without a name', head(get, ': x'), 400],
    ['a blank in a header name', head(get, 'a b: c'), 400],
    ['a folded header', head(get, 'X-A: b', ' folded'), 400],
    ['both length and chunks', `${head(post, 'Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`, 400],
    ['two lengths', `${head(post, 'Content-Length: 2', 'Content-Length: 3')}{}`, 400],
    ['a length that is no number', `${head(post, 'Content-Length: 2x')}{}`, 400],
    ['a broken chunk', `${head(post, 'Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n`, 400],
    ['a header of 9 kB', head(get, `X-A: ${'a'.repeat(9_000)}`), 431],
    ['an Authorization of 9 kB', head(get, `Authorization: ${'a'.repeat(9_000)}`), 431],
    ['101 headers', head(get, 'Connection: close', ...Array.from({ length: 101 }, (_, i) => `X-${i}: a`)), 431],
    ['a header named __proto__', head(get, 'Connection: close', '__proto__: x'), 400],
    ['no Host', `${get}\r\nConnection: close\r\n\r\n`, 400],
    ['Host twice', head(get, 'Connection: close', 'Host: elsewhere'), 400],
    ['an expectation nobody knows', head(get, 'Connection: close', 'Expect: wonders'), 417],
  ])('%s', async ([, bytes, status]) => {
    const answer = await exchange(bytes)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) })
    expect(await isAlive()).toBe(true)
  })

  test('HTTP/1.0 knows no Host', async () => {
    expect((await exchange('GET /api/v1/deploy-lock HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test('headers with underscores pass', async () => {
    expect((await exchange(head(get, 'Connection: close', 'argo_watcher_deploy_token: x'))).status).toBe(200)
  })
})

describe('a request whose body turns out broken after it was answered', () => {
  const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
  test.for<[string, number]>([
    ['/api/v1/tasks%zz', 400],
    ['/api/v1/nothing', 404],
  ])('POST %s gets one answer, and the connection ends', async ([path, status]) => {
    const answered = nextAnswer()
    const start = head(`POST ${path} HTTP/1.1`, ...chunked)
    const answer = await exchange(
      start,
      answered.then(() => 'zz\r\n{}\r\n'),
    )
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) })
  })

  test('the next request of a connection is answered for itself', async () => {
    const good = head('GET /api/v1/deploy-lock HTTP/1.1')
    const answered = nextAnswer()
    const { body } = await exchange(
      good,
      answered.then(() => 'hello\r\n\r\n'),
    )
    expect(body).toMatch(/^falseHTTP\/1\.1 400 /)
  })
})

describe('bodies that are too large end the connection', () => {
  const headers = ['Content-Type: application/json']

  test('announced', async () => {
    const answer = await exchange(head('POST /api/v1/tasks HTTP/1.1', ...headers, 'Content-Length: 1048577'))
    expect(answer).toEqual({ status: 413, body: '{"error":"body: must be at most 1 MiB"}' })
  })

  test('in chunks without end', async () => {
    const chunk = Buffer.from(`10000\r\n${' '.repeat(65_536)}\r\n`)
    const start = head('POST /api/v1/tasks HTTP/1.1', ...headers, 'Transfer-Encoding: chunked')
    const answer = await exchange(start, ...Array<Buffer>(17).fill(chunk))
    expect(answer).toEqual({ status: 413, body: '{"error":"body: must be at most 1 MiB"}' })
  })
})

describe('a path that leaves /swagger is 404 (B40; and other paths that try to leave)', () => {
  test.for([
    '/swagger/../../secret',
    '/swagger/%2e%2e/secret',
    '/swagger//',
    '/assets/../../etc/passwd',
    '/assets/%2e%2e/index.html',
    '/..%2f..%2fetc/passwd',
    '/\\..\\secret',
    '//etc/passwd',
    '/api/../index.html',
  ])('%s: 404', async (path) => {
    const answer = await exchange(head(`GET ${path} HTTP/1.1`, 'Accept: text/html', 'Connection: close'))
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) })
  })
})

test('closing finishes the requests under way', async () => {
  const pending = exchange(head('GET /api/v1/slow HTTP/1.1'))
  await expect.poll(() => typeof finishSlow).toBe('function')
  const closed = app.close()
  finishSlow()
  expect(await pending).toEqual({ status: 200, body: '{"done":true}' })
  await closed
})
