import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { TaskEvents } from '../../contract/task-event.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'
import { badInputs } from './rows.ts'
import { streamWithoutEnd } from './slow-clients.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const digest = `sha256:${'ab'.repeat(32)}`
const good = aTask({ app: 'gone' })
const text = JSON.stringify(good)
const field = (name: string, value: unknown) => JSON.stringify({ ...good, [name]: value })
const image = (change: object) => field('images', [{ image: 'registry.example/gone', tag: 'v1', ...change }])

/** 50 images whose names and tags have so many bytes together. */
const imagesOf = (bytes: number) =>
  Array.from({ length: 50 }, (_, at) => {
    const tag = `v${at}`.padEnd(Math.floor(bytes / 50) - 200, 'x')
    return { image: `é${at}-`.padEnd(at === 49 ? 199 + (bytes % 50) : 199, 'a'), tag }
  })

const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  world.service.request('/api/v1/tasks', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
const idOf = ({ body }: { body: unknown }) => z.object({ id: z.string() }).parse(body).id
const accepted = async (body: string) => world.service.getTask(idOf(await send(body)))

/** What is sent, the body, and what the error must hold. */
type Refused = readonly [what: string, body: string, error: string | RegExp]
const control = 'must not hold control characters'

const refused: readonly (readonly [string, readonly Refused[]])[] = [
  [
    badInputs.B1,
    ['', 'null', '[]', '"x"', '42'].map((body): Refused => [body || 'nothing', body, 'body must be a JSON object']),
  ],
  [
    badInputs.B2,
    [
      ['truncated', '{"app":"a"', 'line 1 column 11'],
      ['followed by text', `${text} x`, /line 1 column \d+/],
      ['twice', text + text, /line 1 column \d+/],
      ['a byte order mark', `\ufeff${text}`, 'line 1 column 1'],
      ['single quotes', "{'app':'a'}", 'line 1 column 2'],
      ['NaN', '{"app":NaN}', "Unexpected token 'N'"],
    ],
  ],
  [
    badInputs.B7,
    [
      ['missing', field('app', undefined), 'app: is required'],
      ['null', field('app', null), 'app: must be a string'],
      ['a number', field('app', 5), 'app: must be a string'],
      ['an object', field('app', {}), 'app: must be a string'],
      ['empty', field('app', ''), 'app: must not be empty'],
      ['blank', field('app', '   '), 'app: must not be empty'],
    ],
  ],
  [
    badInputs.B8,
    [
      ['a control character', field('app', 'a\u0007'), `app: ${control}`],
      ['NUL', field('app', 'a\u0000'), `app: ${control}`],
      ['CR LF', field('app', 'a\r\nb'), `app: ${control}`],
      ['a lone surrogate', field('app', 'a\ud800'), 'app: must be well-formed Unicode'],
      ['..', field('app', '../x'), "app: must not hold '..'"],
      ['%', field('app', '%2e'), "app: must not hold '%'"],
      ['a/b', field('app', 'a/b'), "app: must not hold '/' unless APPS_IN_ANY_NAMESPACE"],
      ['256 characters', field('app', 'a'.repeat(256)), 'app: must be at most 255 characters long'],
    ],
  ],
  [
    badInputs.B9,
    ['author', 'project'].flatMap((name): Refused[] => [
      [`${name} missing`, field(name, undefined), `${name}: is required`],
      [`${name} of 256`, field(name, 'a'.repeat(256)), `${name}: must be at most 255 characters long`],
      [`${name} with a tab`, field(name, 'a\tb'), `${name}: ${control}`],
      [`${name} with CSI`, field(name, '\u009b31m'), `${name}: ${control}`],
    ]),
  ],
  [
    badInputs.B11,
    [
      ['missing', field('images', undefined), 'images: is required'],
      ['null', field('images', null), 'images: must be an array'],
      ['{}', field('images', {}), 'images: must be an array'],
      ['[]', field('images', []), 'images: must hold at least one image'],
    ],
  ],
  [
    badInputs.B12,
    [
      ['51 images', field('images', Array(51).fill(good.images[0])), 'images: must hold at most 50 images'],
      ['more than 16 KiB', field('images', imagesOf(16 * 1024 + 1)), 'images: names and tags must be at most 16 KiB'],
      [
        'two tags',
        field(
          'images',
          ['a', 'b'].map((tag) => ({ image: 'i', tag })),
        ),
        'names a second tag',
      ],
      [
        'two tags, the name in two ways',
        field('images', [
          { image: 'nginx', tag: 'a' },
          { image: 'docker.io/library/nginx', tag: 'b' },
        ]),
        'images[1].tag: names a second tag',
      ],
    ],
  ],
  [
    badInputs.B13,
    [
      ['empty', image({ image: '' }), 'images[0].image: must not be empty'],
      ['blank', image({ image: '  ' }), 'images[0].image: must not be empty'],
      ['256 characters', image({ image: 'a'.repeat(256) }), 'images[0].image: must be at most 255'],
      ...['repo:1', 'localhost:5000', 'host:5000/repo:1', `repo@${digest}`, `repo:1@${digest}`].map(
        (name): Refused => [name, image({ image: name }), 'images[0].image: must be a name without a tag or digest'],
      ),
    ],
  ],
  [
    badInputs.B14,
    [
      ['empty', image({ tag: '' }), 'images[0].tag: must not be empty'],
      ['256 characters', image({ tag: 'a'.repeat(256) }), 'images[0].tag: must be at most 255'],
      ['a newline', image({ tag: 'latest\n- name: x' }), `images[0].tag: ${control}`],
      ['NUL', image({ tag: 'a\u0000' }), `images[0].tag: ${control}`],
    ],
  ],
  [
    badInputs.B17,
    [
      ['a string', field('timeout', '60'), 'timeout: must be a whole number'],
      ['a fraction', field('timeout', 1.5), 'timeout: must be a whole number'],
      ['null', field('timeout', null), 'timeout: must be a whole number'],
    ],
  ],
  [
    'the other optional fields',
    [
      ['refresh, a text', field('refresh', 'yes'), 'refresh: must be true or false'],
      ['source without sha', field('source', { repository: 'r' }), 'source.sha: is required'],
      ['source, a text', field('source', 'r'), 'source: must be an object'],
    ],
  ],
]

describe.for(refused)('%s', ([, inputs]) => {
  test.for(inputs)('%s', async ([, body, error]) => {
    const answer = await send(body)
    const told = typeof error === 'string' ? expect.stringContaining(error) : expect.stringMatching(error)
    expect(answer).toMatchObject({ status: 406, body: { status: 'invalid payload', error: told } })
    expect(z.object({ error: z.string().max(300) }).safeParse(answer.body).success).toBe(true)
  })
})

test('all faults of a body are told at once (spec 7)', async () => {
  expect((await send('{}')).body).toEqual({
    status: 'invalid payload',
    error: 'app: is required; author: is required; project: is required; images: is required',
  })
})

describe(badInputs.B4, () => {
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
  ])('%s', async (type) => {
    for (const body of [text, '{}']) {
      const answer = await send(body, { 'content-type': type })
      expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining('send application/json') } })
      expect(String(z.object({ error: z.string() }).parse(answer.body).error)).toContain(type.slice(0, 16))
    }
  })
  test('missing', async () => {
    const answer = await send(new TextEncoder().encode(text), { 'content-type': '' })
    expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining('send application/json') } })
  })
  test.for([
    'application/json',
    ' Application/JSON',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
  ])('%s is JSON, and its body is judged', async (type) => {
    expect((await send(text, { 'content-type': type })).status).toBe(202)
    expect((await send('{}', { 'content-type': type })).status).toBe(406)
  })
})

describe(badInputs.B5, () => {
  const post = 'POST /api/v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const port = () => Number(new URL(world.service.url).port)

  test('1 MiB + 1', async () => {
    const answer = await send(new Uint8Array(1_048_577).fill(32))
    expect(answer).toMatchObject({ status: 413, body: { error: expect.stringContaining('1 MiB') } })
    expect(answer.headers.get('connection')).toBe('close')
  })
  test.for([
    ['a length of 1 GB', 'Content-Length: 1073741824\r\n\r\n'],
    ['chunks without end', 'Transfer-Encoding: chunked\r\n\r\n40000000\r\n'],
  ] as const)('%s', async ([, framing]) => {
    const { answer, sentBytes } = await streamWithoutEnd(port(), post + framing)
    expect(answer).toMatch(/^(?:HTTP\/1\.1 413 |$)/) // who goes on sending may lose the answer with the connection
    expect(sentBytes).toBeLessThan(64 * 1_048_576)
  })
  test('a length that lies: the rest never comes, and the connection is closed with 408', async () => {
    const answer = await rawExchange(port(), `${post}Content-Length: 100\r\n\r\n{`)
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*"error":/)
  }, 30_000)
})

test(badInputs.B6, async () => {
  const answer = await send(text, { 'content-encoding': 'gzip' })
  expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining('gzip') } })
})

test(`${badInputs.B8} (the second group)`, async () => {
  const names = ['a'.repeat(255), 'a\u200fb', '😀', 'A B', '-x', 'SHOP', '.', 'a?b#c', "'", 'a\\b', 'ＳＨＯＰ']
  const ids = await Promise.all(names.map(async (app) => idOf(await world.service.submitTask(aTask({ app })))))
  const ends = await Promise.all(ids.map((id) => world.service.waitForEnd(id)))
  expect(ends.map(({ app, status }) => [app, status])).toEqual(names.map((name) => [name, 'app not found']))
  const asked = world.simulator.control.callLog().map(({ path }) => decodeURIComponent(path))
  expect(asked.filter((path) => /[\p{Cc}]|\.\.|\/a\/b/u.test(path))).toEqual([]) // names of the first group
})

describe(`${badInputs.B10} (T31 shows how)`, () => {
  test.for(['javascript:alert(1)', '<img src=x onerror=alert(1)>', '{{.App}}', '%s%n'])('%s', async (project) =>
    expect(await accepted(field('project', project))).toMatchObject({ project, author: good.author }),
  )
})

test(`${badInputs.B13} (what is accepted is compared as a name)`, async () => {
  for (const name of ['host:5000/repo', 'REGISTRY.example/Shop', 'a b', 'http://x/y', 'x'.repeat(255)])
    expect((await accepted(image({ image: name }))).images).toEqual([{ image: name, tag: 'v1' }])
})

test('16 KiB of images are accepted, and of these the timeline names five', async () => {
  const images = imagesOf(16 * 1024)
  const id = idOf(await send(field('images', images)))
  expect((await world.service.getTask(id)).images).toEqual(images)
  const shown = images.slice(0, 5).map((one) => `${one.image}:${one.tag}`)
  const { events } = TaskEvents.parse((await world.service.request(`/api/v1/tasks/${id}/events`)).body)
  expect(events.find(({ kind }) => kind === 'accepted')?.detail).toBe(
    `accepted from ${good.author}: ${shown.join(', ')} and 45 more`,
  )
})

describe('tags are written as they were given', () => {
  test.for([
    [badInputs.B14, ['{{.App}}', '$(id)', '`id`', 'a b', 'a: b # c', '"', "it's", '%s']],
    [badInputs.B15, ['yes', '0123', '1e3', '1_000', '0x1F', 'null', '~', '2024-01-01']],
  ] as const)('%s', { timeout: 120_000 }, async ([, tags]) => {
    for (const tag of tags) {
      const id = idOf(
        await world.service.submitTask(
          aTask({ images: [{ image: 'registry.example/shop', tag }], timeout: 60 }),
          withToken,
        ),
      )
      await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
      const file = await world.simulator.git.readFile('gitops', 'apps/shop/.argocd-source-shop.yaml')
      for (const version of ['1.1', '1.2'] as const)
        expect(parse(String(file), { version })).toEqual({
          helm: { parameters: [{ name: 'image.tag', value: tag, forceString: true }] },
        })
      expect(String(file)).toMatch(/value: "/)
    }
  })
})

test(badInputs.B3, async () => {
  const twice = `{"app":"first","__proto__":{"app":"polluted"},${text.slice(1)}`
  expect(await accepted(twice)).toMatchObject({ app: good.app })
})

test(badInputs.B16, async () => {
  const fields = '"id":"x","status":"deployed","validated":true,"created":1'
  const prototypes = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
  const task = await accepted(`{${fields},${prototypes},${text.slice(1)}`)
  expect(task).toMatchObject(good)
  expect(task.status).not.toBe('deployed')
  expect(task.created).toBeGreaterThan(1e9)
  expect(JSON.stringify(task)).not.toContain('polluted')
})

test(`${badInputs.B17} (the first group)`, async () => {
  for (const [timeout, expected] of [
    [-1, 900],
    [0, 900],
    [1e9, 86_400],
    [2 ** 53, 86_400],
    [7, 7],
  ] as const)
    expect((await accepted(field('timeout', timeout))).timeout).toBe(expected)
})

test(badInputs.B18, async () => {
  const deep = `{"app":${'['.repeat(2_000)}${']'.repeat(2_000)}}`
  const wide = `{${Array.from({ length: 60_000 }, (_, key) => `"k${key}":1`).join()}}`
  for (const [what, body] of Object.entries({ deep, wide })) {
    const times: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      const began = performance.now()
      expect((await send(body)).status).toBe(406)
      times.push(performance.now() - began)
    }
    const ms = Math.min(...times) // what else the machine does is not the service's time
    console.info(`B18: ${what} refused after ${ms.toFixed(1)} ms`)
    expect(ms).toBeLessThan(500) // 50 is what we promise
  }
})
