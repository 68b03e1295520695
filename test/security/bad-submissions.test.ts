import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { TaskEvents } from '../../contract/task-event.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

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

test.for([
  ['all fields missing', '{}', 'app: is required; author: is required; project: is required; images: is required'],
  ['a namespace', field('app', 'a/b'), "app: must not contain '/' unless APPS_IN_ANY_NAMESPACE"],
  ['too many bytes', field('images', imagesOf(16 * 1024 + 1)), 'images: names and tags must be at most 16 KiB'],
])('%s: 406, and the error names field and rule (spec 7)', async ([, body = '', error]) =>
  expect(await send(body)).toMatchObject({
    status: 406,
    body: { status: 'invalid payload', error: expect.stringContaining(error ?? '') },
  }),
)

describe('a body that is too large, endless or shorter than it says is closed (B5)', () => {
  const post = 'POST /api/v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const port = () => Number(new URL(world.service.url).port)

  test('1 MiB + 1', async () => {
    const answer = await send(new Uint8Array(1_048_577).fill(32))
    expect(answer).toMatchObject({ status: 413, body: { error: expect.stringContaining('1 MiB') } })
    expect(answer.headers.get('connection')).toBe('close')
  })
  test('a length that lies: the rest never comes, and the connection is closed with 408', async () => {
    const answer = await rawExchange(port(), `${post}Content-Length: 100\r\n\r\n{`)
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*"error":/)
  })
})

test('an app with control characters, path parts or 256 characters is 406, and odd names are not (B8; the second group)', async () => {
  const names = ['a'.repeat(255), 'a\u200fb', '😀', 'A B', '-x', 'SHOP', '.', 'a?b#c', "'", 'a\\b', 'ＳＨＯＰ']
  const ids = await Promise.all(names.map(async (app) => idOf(await world.service.submitTask(aTask({ app })))))
  const ends = await Promise.all(ids.map((id) => world.service.waitForEnd(id)))
  expect(ends.map(({ app, status }) => [app, status])).toEqual(names.map((name) => [name, 'app not found']))
  const asked = world.simulator.control.callLog().map(({ path }) => decodeURIComponent(path))
  expect(asked.filter((path) => /[\p{Cc}]|\.\.|\/a\/b/u.test(path))).toEqual([]) // names of the first group
})

describe('markup in project is accepted and shown as text (B10; T31 shows how)', () => {
  test.for(['javascript:alert(1)', '<img src=x onerror=alert(1)>', '{{.App}}', '%s%n'])('%s', async (project) =>
    expect(await accepted(field('project', project))).toMatchObject({ project, author: good.author }),
  )
})

test('an image with a tag, a digest or blanks is 406 (B13; what is accepted is compared as a name)', async () => {
  for (const name of ['host:5000/repo', 'REGISTRY.example/Shop', 'a b', 'http://x/y', 'x'.repeat(255)])
    expect((await accepted(image({ image: name }))).images).toEqual([{ image: name, tag: 'v1' }])
})

test('16 KiB of images are accepted, and of these the timeline names five', async () => {
  const images = imagesOf(16 * 1024)
  const id = idOf(await send(field('images', images)))
  expect((await world.service.getTask(id)).images).toEqual(images)
  const shown = images.slice(0, 5).map((one) => `${one.image}:${one.tag}`)
  await world.service.waitForEnd(id) // an event is shown once it has its number, a moment after the answer
  const { events } = TaskEvents.parse((await world.service.request(`/api/v1/tasks/${id}/events`)).body)
  expect(events.find(({ kind }) => kind === 'accepted')?.detail).toBe(
    `accepted from ${good.author}: ${shown.join(', ')} and 45 more`,
  )
})

describe('tags are written as they were given', () => {
  test.for([
    [
      'a tag that breaks a line is 406, and any other is written as given (B14)',
      ['{{.App}}', '$(id)', '`id`', 'a b', 'a: b # c', '"', "it's", '%s'],
    ],
    [
      'a tag that YAML may read as another type is written as a quoted string (B15)',
      ['yes', '0123', '1e3', '1_000', '0x1F', 'null', '~', '2024-01-01'],
    ],
  ] as const)('%s', async ([, tags]) => {
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

test('extra fields are ignored (B16)', async () => {
  const fields = '"id":"x","status":"deployed","validated":true,"created":1'
  const prototypes = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
  const task = await accepted(`{${fields},${prototypes},${text.slice(1)}`)
  expect(task).toMatchObject(good)
  expect(task.status).not.toBe('deployed')
  expect(task.created).toBeGreaterThan(1e9)
  expect(JSON.stringify(task)).not.toContain('polluted')
})

test('a timeout out of range is limited, and one of another type is 406 (B17; the first group)', async () => {
  for (const [timeout, expected] of [
    [-1, 900],
    [0, 900],
    [1e9, 86_400],
    [2 ** 53, 86_400],
    [7, 7],
  ] as const)
    expect((await accepted(field('timeout', timeout))).timeout).toBe(expected)
})
