import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { TaskAcceptance, TaskSubmission } from '../../../contract/task.ts'
import { UnauthorizedError } from '../../auth/access/auth-errors.ts'
import { answerTo } from '../../compose/error-replies.ts'
import { DeploymentsLockedError, ReadTimedOutError, TaskNotFoundError } from '../../deployments/task-errors.ts'
import { DeployLockUnknownError } from '../../locks/deploy-lock-errors.ts'
import { createHttpServer, type HttpServer } from './http-server.ts'

const webFolder = mkdtempSync(join(tmpdir(), 'watcher-web-'))
const log: string[] = []
let app: HttpServer

const failures: Record<string, () => Error> = {
  missing: () => new TaskNotFoundError('x'.repeat(5_000)),
  locked: () =>
    new DeploymentsLockedError({
      retryAfterSeconds: 90,
      until: new Date(1_795_424_400_250),
      reason: 'OPS-2214',
      setBy: 'ada',
    }),
  lockUnknown: () => new DeployLockUnknownError(new Date(0), { from: new Date(1), to: new Date(2) }),
  credential: () => new UnauthorizedError('credential rejected: exp is missing'),
  database: () => Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' }),
  search: () => new ReadTimedOutError('search', 'more characters', { cause: new Error('canceling statement') }),
  bug: () => new Error('SELECT secret FROM /etc/passwd at db.internal:5432 canary-9'),
}

beforeAll(async () => {
  await mkdir(join(webFolder, 'assets'))
  await writeFile(join(webFolder, 'index.html'), '<title>the UI</title>')
  await writeFile(join(webFolder, 'assets', 'main-abc123.js'), 'plain')
  await writeFile(join(webFolder, 'assets', 'main-abc123.js.gz'), 'zipped')
  app = createHttpServer({
    answerTo,
    log: { level: 'debug', destination: { write: (line) => log.push(line) }, secrets: () => ['canary-9'] },
    publicUrl: undefined,
    maxConnections: 1_000,
    trustedProxies: [],
    webFolder,
  })
  const routes: FastifyPluginAsyncZod = async (api) => {
    api.post(
      '/api/v1/tasks',
      { bodyLimit: 1024 * 1024, schema: { body: TaskSubmission, response: { 202: TaskAcceptance } } },
      async (_request, reply) => {
        return reply.code(202).send({ id: '1', status: 'accepted' })
      },
    )
    api.get(
      '/api/v1/tasks',
      { schema: { querystring: z.object({ limit: z.literal('5').optional() }) } },
      async () => ({}),
    )
    api.get<{ Params: { id: string } }>('/api/v1/tasks/:id', async ({ params }) => {
      throw new TaskNotFoundError(params.id)
    })
    api.get('/api/v1/deploy-lock', { config: { absentMethods: ['POST', 'DELETE'] } }, async () => false)
    api.get<{ Params: { name: string } }>('/api/v1/failures/:name', async ({ params }) => {
      throw failures[params.name]?.() ?? new Error('no such failure')
    })
  }
  app.register(routes)
  await app.ready()
})
afterAll(async () => {
  await app.close()
  rmSync(webFolder, { recursive: true })
})

const good = { app: 'shop', author: 'ada', project: 'shop', images: [{ image: 'registry.example/shop', tag: 'v1' }] }

const send = async (options: InjectOptions) => {
  const answer = await app.inject(options)
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: parsed(answer.body) }
}
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
describe('paths and methods', () => {
  test.for([
    ['PUT', '/api/v1/tasks', 'GET, HEAD, POST'],
    ['PATCH', '/api/v1/tasks', 'GET, HEAD, POST'],
    ['DELETE', '/api/v1/tasks', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/v1/tasks', 'GET, HEAD, POST'],
    ['POST', '/api/v1/tasks/1', 'GET, HEAD'],
    ['PUT', '/api/v1/deploy-lock', 'GET, HEAD'],
    ['PUT', '/api/v1/tasks/', 'GET, HEAD, POST'],
  ] as const)('%s %s: 405 with Allow', async ([method, url, allow]) => {
    const answer = await send({ method, url, headers: { 'content-type': 'text/plain' }, payload: 'x' })
    expect(answer).toMatchObject({ status: 405, body: { error: expect.stringContaining(method) } })
    expect(answer.headers.allow).toBe(allow)
  })

  test.for(['POST', 'DELETE'] as const)(
    '%s on the deploy lock is 404 without an identity provider (spec 4)',
    async (method) => {
      const answer = await send({ method, url: '/api/v1/deploy-lock' })
      expect(answer).toMatchObject({ status: 404, body: { error: expect.any(String) } })
      expect(answer.headers['content-type']).toContain('application/json')
    },
  )

  test.for([
    '/api',
    '/api/',
    '/api/v1',
    '/api/v2/tasks',
    '/api/v1/tasks/1/x',
    '/api/v1/../x',
    '/swagger//',
    '/metrics',
    '/healthz/x',
    '/ws',
    '/api/v1/tasks//',
  ])('GET %s: JSON 404, never the page', async (url) => {
    const answer = await send({ url, headers: { accept: 'text/html' } })
    expect(answer).toMatchObject({ status: 404, body: { error: expect.any(String) } })
    expect(answer.headers['content-type']).toContain('application/json')
  })

  test.for(['x'.repeat(5_000), '%00'])('an odd task id: case %#', async (id) => {
    const answer = await send({ url: `/api/v1/tasks/${id}` })
    expect(answer).toMatchObject({ status: 404, body: { error: 'task not found' } })
    expect(answer.text.length).toBeLessThan(200)
  })

  test('a path that is not percent-encoded well is 400', async () => {
    expect(await send({ url: '/api/v1/tasks/%zz' })).toMatchObject({ status: 400, body: { error: expect.any(String) } })
  })

  test('X-HTTP-Method-Override means nothing', async () => {
    const headers = { 'content-type': 'application/json', 'x-http-method-override': 'DELETE' }
    expect((await send({ method: 'POST', url: '/api/v1/tasks', headers, payload: good })).status).toBe(202)
  })
})

describe('other origins', () => {
  test('a browser at another host than that of PUBLIC_URL is refused, or led there', async () => {
    const own = createHttpServer({
      answerTo,
      log: { level: 'warn', destination: { write: (line) => log.push(line) }, secrets: () => [] },
      publicUrl: 'https://watcher.example',
      maxConnections: 1_000,
      trustedProxies: ['10.0.0.0/8'],
      webFolder: undefined,
    })
    own.get('/api/v1/tasks', async () => [])
    const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' }
    const script = { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }
    const ask = (headers: Record<string, string>, url = '/api/v1/tasks', remoteAddress = '192.0.2.1') =>
      own.inject({ url, headers, remoteAddress })
    const rebound = { host: 'rebound.example' }
    expect(await ask({ ...rebound, ...script })).toMatchObject({
      statusCode: 403,
      body: expect.stringContaining('PUBLIC_URL'),
    })
    expect(await ask({ ...rebound, origin: 'https://watcher.example' })).toMatchObject({ statusCode: 403 })
    expect(await ask({ ...rebound, ...page }, '//x/tasks?a=b')).toMatchObject({
      statusCode: 302,
      headers: { location: 'https://watcher.example//x/tasks?a=b' },
    })
    expect(await ask({ ...rebound, ...page, cookie: 'watcher-redirected=1' })).toMatchObject({
      statusCode: 403,
      body: expect.stringContaining('a proxy must keep Host'),
    })
    expect((await ask({ host: 'watcher.example', ...script })).statusCode).toBe(200)
    expect((await ask({ host: 'watcher.svc:8080' })).statusCode).toBe(200)
    const forwarded = { ...script, host: 'watcher.svc', 'x-forwarded-host': 'watcher.example' }
    expect((await ask(forwarded)).statusCode).toBe(403)
    expect((await ask(forwarded, undefined, '10.0.0.1')).statusCode).toBe(200)
    await own.close()
  })

  test('no CORS header is ever sent', async () => {
    const { headers } = await send({ url: '/api/v1/deploy-lock', headers: { origin: 'https://evil.example' } })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('errors of the service become answers', () => {
  test.for<[string, number, object]>([
    [
      'locked',
      406,
      {
        status: 'rejected',
        error: 'lockdown is active, deployments are not accepted',
        code: 'locked',
        until: 1_795_424_400.25,
        reason: 'OPS-2214',
        set_by: 'ada',
      },
    ],
    [
      'credential',
      401,
      { status: 'You are not authorized to perform this action', error: 'credential rejected: exp is missing' },
    ],
    [
      'lockUnknown',
      503,
      { error: expect.stringContaining('the deploy lock is unknown: the database says it is 1970') },
    ],
    ['database', 503, { error: 'the database does not answer, try again later' }],
    ['search', 503, { error: 'search timed out after 1.8s; use more characters' }],
  ])('%s: %s', async ([name, status, body]) => {
    expect(await send({ url: `/api/v1/failures/${name}` })).toMatchObject({ status, body })
  })

  test('a lock with a known end and an absent database say when to come back', async () => {
    expect((await send({ url: '/api/v1/failures/locked' })).headers['retry-after']).toBe('90')
    expect((await send({ url: '/api/v1/failures/database' })).headers['retry-after']).toBe('5')
  })

  test('an unknown task: 404, its id echoed to 64 characters', async () => {
    const { status, body } = await send({ url: '/api/v1/failures/missing' })
    expect(status).toBe(404)
    expect(body).toEqual({ id: `${'x'.repeat(63)}…`, error: 'task not found' })
  })

  test('X-Forwarded-For from an untrusted address is warned of once', async () => {
    log.length = 0
    for (const _ of [1, 2])
      await app.inject({ url: '/api/v1/deploy-lock', headers: { 'x-forwarded-for': '192.0.2.1' } })
    expect(log.filter((line) => line.includes('outside TRUST_PROXY'))).toHaveLength(1)
  })

  test('a bug: 500 with nothing but a request id, which the log has with the cause', async () => {
    log.length = 0
    const { status, body } = await send({ url: '/api/v1/failures/bug?deploy_token=canary-8' })
    expect(status).toBe(500)
    const id = /^internal error, request ([0-9a-f-]{36})$/.exec((body as { error: string }).error)?.[1]
    const logged = log.filter((line) => line.includes(String(id)))
    expect(logged.join()).toContain('SELECT secret')
    expect(log.join()).not.toMatch(/canary/)
  })
})

test('a client that breaks off while sending is not a broken database', () => {
  const aborted = Object.assign(new Error('aborted'), { code: 'ECONNRESET', statusCode: 400 })
  expect(answerTo(aborted, '1').status).toBe(400)
})

describe('headers', () => {
  test('every answer carries the security headers', async () => {
    const requests: InjectOptions[] = [
      { url: '/' },
      { url: '/assets/main-abc123.js' },
      { url: '/api/v1/deploy-lock' },
      { url: '/api/v1/unknown' },
      { url: '/api/v1/failures/bug' },
      { url: '/api/v1/tasks', method: 'PUT' },
      { url: '/api/v1/tasks', method: 'POST', headers: { origin: 'null' } },
      { url: '/api/v1/tasks', method: 'POST', headers: { 'content-type': 'text/plain' }, payload: 'x' },
    ]
    for (const request of requests) {
      const { headers } = await send(request)
      expect(headers['content-security-policy']).toBe(
        "default-src 'self';script-src 'self';style-src 'self';img-src 'self' data:;object-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'",
      )
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      })
    }
  })

  test.for([
    ['/swagger/index.html', "style-src 'self' 'unsafe-inline';"],
    ['/tasks', "style-src 'self';"],
    ['/swagger-like', "style-src 'self';"],
  ] as const)('%s may have styles by %s', async ([url, styles]) => {
    expect((await send({ url })).headers['content-security-policy']).toContain(styles)
  })

  test('API answers are not kept by caches', async () => {
    expect((await send({ url: '/api/v1/deploy-lock' })).headers['cache-control']).toBe('no-store')
  })
})

describe('the web UI', () => {
  test.for(['/', '/tasks', '/task/019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', '/anything?x=1'])(
    '%s is its page',
    async (url) => {
      const answer = await send({ url, headers: { accept: 'text/html,*/*;q=0.8' } })
      expect(answer).toMatchObject({ status: 200, text: '<title>the UI</title>' })
      expect(answer.headers['cache-control']).toBe('no-cache')
    },
  )

  test('assets with a hash may be kept for ever, and come compressed', async () => {
    const answer = await send({ url: '/assets/main-abc123.js', headers: { 'accept-encoding': 'gzip' } })
    expect(answer).toMatchObject({ status: 200, text: 'zipped' })
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      'content-type': expect.stringContaining('javascript'),
    })
    expect(await send({ url: '/assets/main-abc123.js' })).toMatchObject({ status: 200, text: 'plain' })
  })

  test.for(['/assets/gone.js', '/favicon.ico'])('the missing file %s is 404, not the page', async (url) =>
    expect((await send({ url, headers: { accept: '*/*' } })).status).toBe(404),
  )

  test('without a build, pages say so and the API works', async () => {
    const bare = createHttpServer({
      answerTo,
      log: { level: 'warn', destination: { write: (line) => log.push(line) }, secrets: () => [] },
      publicUrl: undefined,
      maxConnections: 1_000,
      trustedProxies: [],
      webFolder: join(webFolder, 'absent'),
    })
    bare.get('/api/v1/deploy-lock', async () => false)
    expect(await bare.inject('/')).toMatchObject({ statusCode: 503, body: expect.stringContaining('npm run build') })
    expect(await bare.inject('/api/v1/deploy-lock')).toMatchObject({ statusCode: 200, body: 'false' })
    expect(log.at(-1)).toContain('web UI not built')
    await bare.close()
  })
})
