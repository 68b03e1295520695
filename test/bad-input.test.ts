import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { aTask } from './support/service.ts'
import { startWorld, type World, withToken } from './support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const idOf = ({ body }: { body: unknown }) => z.object({ id: z.string() }).parse(body).id
const send = (body: string) =>
  world.service.request('/api/v1/tasks', { method: 'POST', headers: { 'content-type': 'application/json' }, body })

test('B8 a name that no application has is accepted and ends "app not found"', async () => {
  const names = ['a'.repeat(255), 'a\u200fb', '😀', 'A B', '-x', 'SHOP', '.', 'a?b#c', "'", 'a\\b', 'ＳＨＯＰ']
  const ids = await Promise.all(names.map(async (app) => idOf(await world.service.submitTask(aTask({ app })))))
  const ends = await Promise.all(ids.map((id) => world.service.waitForEnd(id)))
  expect(ends.map(({ app, status }) => [app, status])).toEqual(names.map((name) => [name, 'app not found']))
})

test('B10, B14 what looks like a link, markup or a template is taken and told as it is', async () => {
  const odd = ['javascript:alert(1)', '<img src=x onerror=alert(1)>', '{{.App}}', '$(id)', '`id`', 'a b', '%s%n']
  for (const text of odd) {
    const images = [{ image: 'registry.example/gone', tag: text }]
    const id = idOf(await world.service.submitTask(aTask({ app: 'gone', author: text, project: text, images })))
    expect(await world.service.getTask(id)).toMatchObject({ author: text, project: text, images })
  }
})

test('B13 an image is compared as a name, whatever stands in it, and its tag is never doubled', async () => {
  const odd = ['repo:1', 'repo@sha256:abc', 'REGISTRY.example/Shop', 'a b', 'http://x/y', 'x'.repeat(255)]
  for (const image of odd) {
    const images = [{ image, tag: 'v1' }]
    const id = idOf(await world.service.submitTask(aTask({ app: 'gone', images })))
    expect((await world.service.getTask(id)).images).toEqual(images)
  }
})

test('B15 tags that YAML could take for something else are written as strings, byte by byte', async () => {
  const tags = ['yes', '0123', '1e3', '1_000', '0x1F', 'null', '~', '2024-01-01', '{{.App}}', '"', "it's", 'a: b # c']
  for (const tag of tags) {
    const images = [{ image: 'registry.example/shop', tag }]
    const id = idOf(await world.service.submitTask(aTask({ images, timeout: 30 }), withToken))
    await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    const text = await world.simulator.git.readFile('gitops', 'apps/shop/.argocd-source-shop.yaml')
    for (const version of ['1.1', '1.2'] as const)
      expect(parse(String(text), { version })).toEqual({
        helm: { parameters: [{ name: 'image.tag', value: tag, forceString: true }] },
      })
  }
}, 60_000)

test('B18 2,000 levels and 60,000 keys are refused at once', async () => {
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

test('B22 a page beyond all others is empty', async () => {
  const answer = await world.service.request('/api/v1/tasks?offset=999999999')
  expect(answer).toMatchObject({ status: 200, body: { tasks: [] } })
})

test('B24, B25, B31, B32 credentials that are none are refused, and none of them is repeated', async () => {
  const id = idOf(await world.service.submitTask(aTask({ app: 'gone' })))
  const good = withToken['Watcher-Deploy-Token']
  const authorizations = [
    '',
    'Bearer',
    'Bearer ',
    'bearer x',
    'Basic YTpi',
    'a.b',
    'a.b.c.d',
    'a.b.c.d.e',
    'a. b.c',
    'a.b.c=',
  ]
  const deployTokens = [`${good}x`, good.slice(0, -1), good.toUpperCase(), `"${good}"`, `Bearer ${good}`]
  const wrong: Record<string, string>[] = [
    ...authorizations.map((value) => ({ Authorization: value })),
    ...deployTokens.map((value) => ({ 'Watcher-Deploy-Token': value })),
  ]
  for (const headers of wrong) {
    const answer = await world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers })
    expect([headers, answer.status]).toEqual([headers, 401])
    expect(JSON.stringify(answer.body)).not.toContain(good)
  }
  const query = `deploy_token=${encodeURIComponent(good)}%0A`
  const differing = await world.service.request(`/api/v1/tasks/${id}?${query}`, {
    method: 'DELETE',
    headers: withToken,
  })
  expect(differing.status).toBe(401)
})

describe('settings that cannot be meant end the start with 78, the name and the rule, and no secret', () => {
  const enough = {
    ARGO_URL: 'http://127.0.0.1:1',
    ARGO_TOKEN: 'hidden-argo-token',
    DATABASE_URL: 'postgres://watcher:hidden-password@127.0.0.1:1/none',
  }
  async function start(settings: Record<string, string>) {
    const main = path.join(import.meta.dirname, '../server/main.ts')
    const child = spawn(process.execPath, [main], {
      env: { ...enough, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
    const [code] = await once(child, 'close')
    return { code, text }
  }

  const rows: [string, Record<string, string>, RegExp][] = [
    ['B41', { LOCKDOWN_SCHEDULE: 'Fri 20 - Mon 08' }, /LOCKDOWN_SCHEDULE.*HH:MM/],
    ['B46', { LOCKDOWN_SCHEDULE: 'Fri 20:00 - Fri 20:00' }, /LOCKDOWN_SCHEDULE/],
    ['B47', { LOCKDOWN_SCHEDULE: 'Fri 20:00 - Fri 08:00' }, /LOCKDOWN_SCHEDULE.*two windows/],
    ['B49', { LOCKDOWN_TIMEZONE: 'Mars/Olympus' }, /LOCKDOWN_TIMEZONE/],
    ['B50', { ARGO_TOKEN: '', PORT: 'hidden-port', LOG_LEVEL: 'loud' }, /ARGO_TOKEN[\s\S]*PORT|PORT[\s\S]*ARGO_TOKEN/],
    ['B50 twice', { DB_HOST: 'x' }, /DATABASE_URL/],
    ['B51', { ARGO_URL: 'ftp://hidden-host' }, /ARGO_URL/],
    ['B53', { JWT_SECRET: '   ' }, /JWT_SECRET/],
    [
      'B54',
      { PORT: '70000', DRAIN_DELAY: '10x', SKIP_TLS_VERIFY: 'yes' },
      /^(?=[\s\S]*PORT)(?=[\s\S]*DRAIN_DELAY)(?=[\s\S]*SKIP_TLS_VERIFY)/,
    ],
  ]
  test.for(rows)('%s', async ([, settings, told]) => {
    const { code, text } = await start(settings)
    expect([code, text]).toEqual([78, expect.stringMatching(told)])
    expect(text).not.toMatch(/hidden|\bat \S+ \(/)
  })
})
