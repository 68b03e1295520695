import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskAcceptance, TaskSubmission } from '../../contract/task.ts'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import type { HttpServer } from './http-server.ts'

let app: HttpServer
let received: unknown

beforeAll(async () => {
  app = quietHttpServer()
  const routes: FastifyPluginAsyncZod = async (api) => {
    api.post(
      '/api/v1/tasks',
      { schema: { body: TaskSubmission, response: { 202: TaskAcceptance } } },
      async (request, reply) => {
        received = request.body
        return reply.code(202).send({ id: '1', status: 'accepted' })
      },
    )
  }
  await app.register(routes)
})
afterAll(() => app.close())

const good = { app: 'shop', author: 'ada', project: 'shop', images: [{ image: 'registry.example/shop', tag: 'v1' }] }

const post = async (payload: string | Buffer | object, headers: Record<string, string> = {}) => {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/v1/tasks',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  })
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: answer.json() as unknown }
}

describe('the body of POST /tasks', () => {
  test('a good one is accepted', async () => {
    expect(await post(good)).toMatchObject({ status: 202, body: { id: '1', status: 'accepted' } })
  })

  test.for<[string, string, string]>([
    ['empty', '', 'body must be a JSON object'],
    ['null', 'null', 'body must be a JSON object'],
    ['an array', '[]', 'body must be a JSON object'],
    ['a string', '"x"', 'body must be a JSON object'],
    ['a number', '42', 'body must be a JSON object'],
    ['truncated', '{"app":"a"', 'line 1, column 11'],
    ['followed by text', `${JSON.stringify(good)} x`, 'expected the end'],
    ['a byte order mark', `\ufeff${JSON.stringify(good)}`, 'line 1, column 1'],
    ['single quotes', "{'app':'a'}", 'line 1, column 2'],
    ['NaN', '{"app":NaN}', 'line 1, column 8'],
    ['a key twice', '{"app":"a","app":"b"}', 'duplicate key app'],
    ['nested too deep', `{"app":${'['.repeat(2_000)}`, 'nested deeper'],
    ['60,000 keys', `{${Array.from({ length: 60_000 }, (_, key) => `"k${key}":1`).join()}}`, 'more than 10000 keys'],
  ])('%s: 406', async ([, payload, error]) => {
    const answer = await post(payload)
    expect(answer).toMatchObject({
      status: 406,
      body: { status: 'invalid payload', error: expect.stringContaining(error) },
    })
    expect((answer.body as { error: string }).error.length).toBeLessThanOrEqual(300)
  })

  const field = (name: string, value: unknown) => ({ ...good, [name]: value })
  const image = (change: object) => ({ ...good, images: [{ image: 'registry.example/shop', tag: 'v1', ...change }] })
  test.for<[string, object, string]>([
    ['app missing', field('app', undefined), 'app: is required'],
    ['app null', field('app', null), 'app: must be a string'],
    ['app a number', field('app', 5), 'app: must be a string'],
    ['app an object', field('app', {}), 'app: must be a string'],
    ['app empty', field('app', ''), 'app: must not be empty'],
    ['app blank', field('app', '   '), 'app: must not be empty'],
    ['app with CR LF', field('app', 'a\r\nb'), 'app: must not hold control characters'],
    ['app with NUL', field('app', 'a\u0000'), 'app: must not hold control characters'],
    ['app with a lone surrogate', field('app', 'a\ud800'), 'app: must be well-formed Unicode'],
    ['app with ..', field('app', '../x'), "app: must not hold '..'"],
    ['app with %', field('app', '%2e'), "app: must not hold '%'"],
    ['app of 256', field('app', 'a'.repeat(256)), 'app: must be at most 255 characters long'],
    ['author missing', field('author', undefined), 'author: is required'],
    ['author of 256', field('author', 'a'.repeat(256)), 'author: must be at most 255'],
    ['project with a tab', field('project', 'a\tb'), 'project: must not hold control characters'],
    ['images missing', field('images', undefined), 'images: is required'],
    ['images null', field('images', null), 'images: must be an array'],
    ['images an object', field('images', {}), 'images: must be an array'],
    ['no image', field('images', []), 'images: must hold at least one image'],
    ['51 images', field('images', Array(51).fill(good.images[0])), 'images: must hold at most 50 images'],
    [
      'two tags',
      field('images', [good.images[0], { ...good.images[0], tag: 'v2' }]),
      'images[1].tag: names a second tag',
    ],
    ['tag empty', image({ tag: '' }), 'images[0].tag: must not be empty'],
    ['tag with a newline', image({ tag: 'latest\n- name: x' }), 'images[0].tag: must not hold control'],
    ['image empty', image({ image: '' }), 'images[0].image: must not be empty'],
    ['timeout a string', field('timeout', '60'), 'timeout: must be'],
    ['timeout a fraction', field('timeout', 1.5), 'timeout: must be a whole number'],
    ['timeout null', field('timeout', null), 'timeout: must be'],
    ['refresh a string', field('refresh', 'yes'), 'refresh: must be true or false'],
    ['source without sha', field('source', { repository: 'r' }), 'source.sha: is required'],
  ])('%s: 406 naming the field and its rule', async ([, payload, error]) => {
    expect(await post(payload)).toMatchObject({ status: 406, body: { error: expect.stringContaining(error) } })
  })

  test('all faults are told at once', async () => {
    const { body } = await post({})
    expect(body).toEqual({
      status: 'invalid payload',
      error: 'app: is required; author: is required; project: is required; images: is required',
    })
  })

  test.for(['yes', '0123', '1e3', '1_000', '0x1F', 'null', '~', '2024-01-01', '{{.App}}', '$(id)', 'a b'])(
    'the tag %s is taken as it is',
    async (tag) => {
      expect((await post(image({ tag }))).status).toBe(202)
      expect(received).toMatchObject({ images: [{ tag }] })
    },
  )

  test('fields that are not the caller’s are ignored, and no prototype is touched', async () => {
    const payload = `${JSON.stringify({ ...good, id: 'x', status: 'deployed', validated: true, created: 1 }).slice(0, -1)},"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`
    expect((await post(payload)).status).toBe(202)
    expect(received).toEqual(good)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('content types', () => {
  test.for([
    'application/json',
    'Application/JSON',
    'application/json; charset=UTF-8',
    'application/json;charset=utf-8',
    'application/json; charset="utf-8"',
  ])('%s is JSON', async (type) => expect((await post(good, { 'content-type': type })).status).toBe(202))

  test.for([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json\ta',
    'application/json a',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; x=y',
    'application/json, text/plain',
    'application/jsonp',
    'application/vnd.api+json',
    'json',
    '',
  ])('"%s" is refused with 415', async (type) => {
    const answer = await post(JSON.stringify(good), { 'content-type': type })
    expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining('send application/json') } })
    if (type !== '') expect(answer.text).toContain(JSON.stringify(type.replace('\t', '\\u0009')).slice(1, -1))
  })

  test('a body without a type is refused with 415', async () => {
    const answer = await app.inject({ method: 'POST', url: '/api/v1/tasks', payload: JSON.stringify(good) })
    expect(answer.statusCode).toBe(415)
    expect(answer.json()).toEqual({ error: expect.stringContaining('Content-Type is missing') })
  })

  test('a compressed body is refused with 415', async () => {
    expect(await post(good, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 415,
      body: { error: expect.stringContaining('gzip') },
    })
  })

  test('a body above 1 MiB is refused with 413', async () => {
    const answer = await post(Buffer.alloc(1024 * 1024 + 1, 32))
    expect(answer).toMatchObject({ status: 413, body: { error: expect.stringContaining('1 MiB') } })
    expect(answer.headers.connection).toBe('close')
  })
})
