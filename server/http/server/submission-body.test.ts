import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskSubmission } from '../../../contract/task.ts'
import { quietHttpServer } from '../../../test/support/quiet-http-server.ts'

const app = quietHttpServer()
beforeAll(async () => {
  app.post('/api/v1/tasks', { bodyLimit: 1024 * 1024, schema: { body: TaskSubmission } }, async ({ body }) => body)
  await app.ready()
})
afterAll(() => app.close())

const good = { app: 'shop', author: 'ada', project: 'shop', images: [{ image: 'registry.example/shop', tag: 'v1' }] }
const text = JSON.stringify(good)
const field = (name: string, value: unknown) => JSON.stringify({ ...good, [name]: value })
const image = (change: object) => field('images', [{ ...good.images[0], ...change }])
const images = (...given: string[]) => given.map((name, at) => ({ image: name, tag: `v${at}` }))
const digest = `sha256:${'ab'.repeat(32)}`
const [long, control] = ['a'.repeat(256), 'must not contain control characters']

const send = (payload: string, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/api/v1/tasks',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  })

type Case = readonly [what: string, body: string, error: string]
const table: readonly (readonly [string, readonly Case[]])[] = [
  [
    'a body that is not an object is 406 (B1)',
    ['', 'null', '[]', '"x"', '42'].map((body): Case => [body || 'nothing', body, 'body must be a JSON object']),
  ],
  [
    'malformed JSON is 406 with line and column (B2)',
    [
      ['truncated', '{"app":"a"', 'line 1 column 11'],
      ['followed by text', `${text} x`, 'line 1 column '],
      ['a byte order mark', `\ufeff${text}`, 'line 1 column 1'],
      ['single quotes', "{'app':'a'}", 'line 1 column 2'],
      ['NaN', '{"app":NaN}', "Unexpected token 'N'"],
    ],
  ],
  [
    'a missing, blank or mistyped app is 406 (B7)',
    [
      ['missing', field('app', undefined), 'app: is required'],
      ['null', field('app', null), 'app: must be a string'],
      ['a number', field('app', 5), 'app: must be a string'],
      ['empty', field('app', ''), 'app: must not be empty'],
      ['blank', field('app', '   '), 'app: must not be empty'],
    ],
  ],
  [
    'an app with control characters, path parts or 256 characters is 406, and odd names are not (B8)',
    [
      ['NUL', field('app', 'a\u0000'), `app: ${control}`],
      ['CR LF', field('app', 'a\r\nb'), `app: ${control}`],
      ['a lone surrogate', field('app', 'a\ud800'), 'app: must be well-formed Unicode'],
      ['..', field('app', '../x'), "app: must not contain '..'"],
      ['%', field('app', '%2e'), "app: must not contain '%'"],
      ['256 characters', field('app', long), 'app: must be at most 255 characters long'],
    ],
  ],
  [
    'a missing, long or unprintable author or project is 406 (B9)',
    ['author', 'project'].flatMap((name): Case[] => [
      [`${name} missing`, field(name, undefined), `${name}: is required`],
      [`${name} of 256`, field(name, long), `${name}: must be at most 255 characters long`],
      [`${name} with a tab`, field(name, 'a\tb'), `${name}: ${control}`],
      [`${name} with CSI`, field(name, '\u009b31m'), `${name}: ${control}`],
    ]),
  ],
  [
    'missing or empty images are 406 (B11)',
    [
      ['missing', field('images', undefined), 'images: is required'],
      ['null', field('images', null), 'images: must be an array'],
      ['{}', field('images', {}), 'images: must be an array'],
      ['[]', field('images', []), 'images: must contain at least one image'],
    ],
  ],
  [
    'too many images, or one image with two tags, are 406 (B12)',
    [
      ['51 images', field('images', Array(51).fill(good.images[0])), 'images: must contain at most 50 images'],
      ['two tags', field('images', images('i', 'i')), 'images[1].tag: names a second tag'],
      ['two tags of one name', field('images', images('nginx', 'docker.io/library/nginx')), 'names a second tag'],
    ],
  ],
  [
    'an image with a tag, a digest or blanks is 406 (B13)',
    [
      ['empty', image({ image: '' }), 'images[0].image: must not be empty'],
      ['blank', image({ image: '  ' }), 'images[0].image: must not be empty'],
      ['256 characters', image({ image: long }), 'images[0].image: must be at most 255'],
      ...['repo:1', 'localhost:5000', 'host:5000/repo:1', `repo@${digest}`, `repo:1@${digest}`].map(
        (name): Case => [name, image({ image: name }), 'images[0].image: must not include a tag or digest'],
      ),
    ],
  ],
  [
    'a tag that breaks a line is 406, and any other is written as given (B14)',
    [
      ['empty', image({ tag: '' }), 'images[0].tag: must not be empty'],
      ['256 characters', image({ tag: long }), 'images[0].tag: must be at most 255'],
      ['a newline', image({ tag: 'latest\n- name: x' }), `images[0].tag: ${control}`],
      ['NUL', image({ tag: 'a\u0000' }), `images[0].tag: ${control}`],
    ],
  ],
  [
    'a timeout out of range is limited, and one of another type is 406 (B17); other optional fields',
    [
      ...['60', 1.5, null].map(
        (timeout): Case => [
          `timeout ${JSON.stringify(timeout)}`,
          field('timeout', timeout),
          'timeout: must be a whole number',
        ],
      ),
      ['refresh, a text', field('refresh', 'yes'), 'refresh: must be true or false'],
      ['source without sha', field('source', { repository: 'r' }), 'source.sha: is required'],
      ['source, a text', field('source', 'r'), 'source: must be an object'],
      ...['4711', '', '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a110'].map(
        (id): Case => [`a rollback to "${id}"`, field('rollback_target_id', id), 'rollback_target_id: must be the id'],
      ),
    ],
  ],
]

describe.for(table)('%s', ([, cases]) => {
  test.for(cases)('%s is rejected', async ([, body, error]) => {
    const answer = await send(body)
    expect(answer.statusCode).toBe(406)
    expect(answer.json()).toEqual({ status: 'invalid payload', error: expect.stringContaining(error) })
    expect(answer.json().error.length).toBeLessThanOrEqual(300)
  })
})

test('all issues of a body are told at once (spec 7)', async () => {
  expect((await send('{}')).json().error).toBe(
    'app: is required; author: is required; project: is required; images: is required',
  )
})

test('the last of duplicate keys applies (B3)', async () => {
  const twice = `{"app":"first","__proto__":{"app":"polluted"},${text.slice(1)}`
  expect((await send(twice)).json()).toEqual(good)
})

describe('B4, B6', () => {
  test.for([
    ...['', 'text/plain', 'application/x-www-form-urlencoded', 'application/json\ta', 'application/json a'],
    ...['application/json; charset=utf-16', 'application/json; charset=utf-8; x=y', 'application/json, text/plain'],
    ...['application/jsonp', 'application/vnd.api+json', 'json'],
  ])('the type "%s" is rejected and named, whatever the body', async (type) => {
    for (const body of [text, '{}']) {
      const answer = await send(body, { 'content-type': type })
      expect([answer.statusCode, answer.json().error]).toEqual([415, expect.stringContaining('send application/json')])
      expect(answer.json().error).toContain(type.slice(0, 16))
    }
  })

  test.for([
    'application/json',
    'Application/JSON',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
  ])('the type "%s" is JSON, and its body is checked', async (type) => {
    expect((await send(text, { 'content-type': type })).statusCode).toBe(200)
    expect((await send('{}', { 'content-type': type })).statusCode).toBe(406)
  })

  test('a compressed body is rejected', async () => {
    const answer = await send(text, { 'content-encoding': 'gzip' })
    expect([answer.statusCode, answer.json().error]).toEqual([415, expect.stringContaining('gzip')])
  })
})
