import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { knownStatuses } from './support/argo-watcher-client.ts'
import { aTask, startService } from './support/service.ts'
import { deployToken, startWorld, withToken } from './support/world.ts'

let world: Awaited<ReturnType<typeof startWorld>>
beforeAll(async () => {
  world = await startWorld({ applications: ['shop', 'slow'] })
})
afterAll(() => world[Symbol.asyncDispose]())

const bodyOf = (answer: { body: unknown }) => answer.body as Record<string, unknown>

describe('POST /api/v1/tasks (spec 2.3, 4)', () => {
  test('answers 202 with an id and "accepted"; GET then shows "in progress", never "accepted"', async () => {
    const answer = await world.service.submitTask(
      aTask({ app: 'slow', images: [{ image: 'registry.example/slow', tag: 'v9' }] }),
    )
    expect(answer).toMatchObject({
      status: 202,
      body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), status: 'accepted' },
    })
    expect(Object.keys(bodyOf(answer)).sort()).toEqual(['id', 'status'])
    const task = await world.service.getTask(String(bodyOf(answer).id))
    expect(task.status).not.toBe('accepted')
    expect(task).not.toHaveProperty('may_write')
  })

  test('ignores fields that only the service may set', async () => {
    const extra = {
      id: 'x',
      status: 'deployed',
      validated: true,
      may_write: true,
      created: 1,
      commit: 'c',
      owner: 'me',
    }
    const { body } = await world.service.submitTask({
      ...aTask({ app: 'slow', images: [{ image: 'registry.example/slow', tag: 'v9' }] }),
      ...extra,
    })
    const task = await world.service.getTask(String((body as { id: string }).id))
    expect(task).toMatchObject({ status: 'in progress' })
    expect(task.id).not.toBe('x')
    expect(task.created).toBeGreaterThan(1_000_000_000)
    expect(task.commit).toBeUndefined()
  })

  test("refuses 'namespace/name' unless APPS_IN_ANY_NAMESPACE is set, naming field and rule", async () => {
    expect(await world.service.submitTask(aTask({ app: 'team/shop' }))).toMatchObject({
      status: 406,
      body: { status: 'invalid payload', error: "app: must not hold '/' unless APPS_IN_ANY_NAMESPACE is set" },
    })
  })

  test("takes 'namespace/name' with APPS_IN_ANY_NAMESPACE, and nothing else with a slash", async () => {
    await using service = await startService({ settings: { APPS_IN_ANY_NAMESPACE: 'true' } })
    expect((await service.submitTask(aTask({ app: 'team/shop' }))).status).toBe(202)
    for (const app of ['/shop', 'team/', 'a/b/c', 'a//b', '/'])
      expect(await service.submitTask(aTask({ app })), app).toMatchObject({
        status: 406,
        body: { status: 'invalid payload', error: 'app: must be a name, or a namespace/name' },
      })
  })

  test('takes <ARGO_NAMESPACE>/shop and shop for one application', async () => {
    const settings = { APPS_IN_ANY_NAMESPACE: 'true', ARGO_NAMESPACE: 'gitops' }
    await using service = await startService({ settings })
    const key = { 'Idempotency-Key': 'retry-1' }
    const first = bodyOf(await service.submitTask(aTask({ app: 'gitops/shop' }), key))
    expect(bodyOf(await service.submitTask(aTask({ app: 'shop' }), key))).toEqual(first)
    expect(await service.getTask(String(first.id))).toMatchObject({ app: 'shop', status: 'in progress' })
    const second = bodyOf(await service.submitTask(aTask({ app: 'shop' })))
    expect(await service.getTask(String(first.id))).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    await service.submitTask(aTask({ app: 'argocd/shop' }))
    for (const app of ['shop', 'gitops/shop']) {
      const { body } = await service.request(`/api/v1/tasks?app=${app}`)
      expect(body).toMatchObject({ tasks: [{ id: second.id }, { id: first.id }], total: 2 })
    }
  })

  test('caps the timeout at a day and takes the default for 0 and below', async () => {
    for (const [timeout, expected] of [
      [1e9, 86_400],
      [0, 900],
      [-1, 900],
      [7, 7],
    ] as const) {
      const { body } = await world.service.submitTask(
        aTask({ app: 'slow', images: [{ image: 'registry.example/slow', tag: 'v9' }], timeout }),
      )
      expect((await world.service.getTask(String((body as { id: string }).id))).timeout).toBe(expected)
    }
  })
})

describe('GET /api/v1/tasks/<id>', () => {
  test.for(['not-a-uuid', 'x'.repeat(36), '..%2f', '00000000-0000-0000-0000-000000000000'])(
    '%s answers 404 with id and error',
    async (id) => {
      const answer = await world.service.request(`/api/v1/tasks/${id}`)
      expect(answer).toMatchObject({ status: 404, body: { error: 'task not found', id: decodeURIComponent(id) } })
    },
  )

  test('with ?wait= answers at the end of the task, not after the whole wait', async () => {
    const id = await world.deploy('shop', 'v-wait')
    const began = performance.now()
    const { body } = await world.service.request(`/api/v1/tasks/${id}?wait=60`)
    expect(body).toMatchObject({ status: 'deployed' })
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  test('with ?wait= answers in time while the task goes on, and refuses a wait that is none', async () => {
    const { body } = await world.service.submitTask(
      aTask({ app: 'slow', images: [{ image: 'registry.example/slow', tag: 'v9' }] }),
    )
    const { id } = body as { id: string }
    expect((await world.service.request(`/api/v1/tasks/${id}?wait=1`)).body).toMatchObject({ status: 'in progress' })
    for (const wait of ['0', '61', 'x', '1.5', '']) {
      const answer = await world.service.request(`/api/v1/tasks/${id}?wait=${wait}`)
      expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('wait') } })
    }
  })
})

describe('GET /api/v1/tasks', () => {
  test('lists newest first with a total, and filters', async () => {
    const id = await world.announce('slow', 'v-listed')
    const { body } = await world.service.request('/api/v1/tasks?app=slow&limit=1')
    expect(body).toMatchObject({ tasks: [{ id, app: 'slow' }], total: expect.any(Number) })
    expect((await world.service.request('/api/v1/tasks?search=v-listed')).body).toMatchObject({
      tasks: [{ id }],
      total: 1,
    })
  })

  test.for([
    ['status=nonsense', 'unsupported status filter'],
    ['limit=abc', 'limit'],
    ['offset=-1', 'offset'],
    ['from_timestamp=2&to_timestamp=1', 'from_timestamp'],
    ['to_timestamp=1e300', 'to_timestamp'],
    ['app=%00', 'app'],
  ] as const)('?%s answers 400 and says %s', async ([query, said]) => {
    const answer = await world.service.request(`/api/v1/tasks?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(said) } })
  })

  test.for(['limit=0', 'limit=-1', 'limit=1000000000', 'unknown=1', "app=%25'%20OR%201=1--"])(
    '?%s is a good request',
    async (query) => {
      expect((await world.service.request(`/api/v1/tasks?${query}`)).status).toBe(200)
    },
  )
})

describe('DELETE /api/v1/tasks/<id>', () => {
  test('cancels an unfinished task for a caller with a credential, once', async () => {
    const id = await world.announce('slow', 'v-cancelled')
    const remove = (headers: Record<string, string>) =>
      world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers })
    expect(await remove({})).toMatchObject({ status: 401, body: { error: expect.stringMatching(/^no credential/) } })
    expect(await remove({ 'Watcher-Deploy-Token': 'wrong' })).toMatchObject({ status: 401 })
    expect(await remove(withToken)).toMatchObject({
      status: 200,
      body: { id, status: 'cancelled', cause: 'cancelled' },
    })
    expect(await remove(withToken)).toMatchObject({
      status: 409,
      body: { status: 'cancelled', error: expect.any(String) },
    })
  })
})

describe('the deploy lock while the identity provider is off (spec 4)', () => {
  test('GET is false; POST and DELETE are 404 with a JSON error', async () => {
    expect(await world.service.request('/api/v1/deploy-lock')).toMatchObject({ status: 200, body: false })
    for (const method of ['POST', 'DELETE']) {
      const answer = await world.service.request('/api/v1/deploy-lock', { method })
      expect(answer).toMatchObject({ status: 404, body: { error: expect.any(String) } })
    }
  })
})

test.for(['watcher-session', '__Host-watcher-session'])(
  'without an identity provider a submission with the cookie %s is told what is missing (decision 0004)',
  async (name) =>
    expect(await world.service.submitTask(undefined, { cookie: `a=b; ${name}=from-another-day` })).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('IDP_ENABLED is not set') },
    }),
)

test.for([
  '/healthz',
  '/livez',
  '/readyz',
  '/metrics',
  '/swagger/index.html',
  '/tasks',
  '/api/v1/version',
  '/api/v1/config',
])('GET %s answers 200', async (path) => {
  expect((await world.service.request(path, { headers: { accept: '*/*' } })).status).toBe(200)
})

test('below /api/ an unknown path or method is JSON, never a page', async () => {
  expect(await world.service.request('/api/v1/nothing', { headers: { accept: 'text/html' } })).toMatchObject({
    status: 404,
    body: { error: expect.any(String) },
  })
  const wrong = await world.service.request('/api/v1/tasks', { method: 'PUT' })
  expect(wrong).toMatchObject({ status: 405, body: { error: expect.any(String) } })
  expect(wrong.headers.get('allow')).toContain('POST')
})

describe('the exchange of the argo-watcher client 1.x, as it sends it', () => {
  test('POST with its headers, then GET with the same credential until a status it knows', async () => {
    const submit = [
      'POST /api/v1/tasks HTTP/1.1',
      `Host: ${new URL(world.service.url).host}`,
      'User-Agent: Go-http-client/1.1',
      'Content-Length: %',
      `Argo_watcher_deploy_token: ${deployToken}`,
      'Content-Type: application/json; charset=UTF-8',
      'Accept-Encoding: gzip',
    ]
    const payload =
      '{"app":"shop","author":"ada","project":"shop","images":[{"image":"registry.example/shop","tag":"v-client"}]}'
    const accepted = await exchange(submit, payload)
    expect(accepted.status).toBe(202)
    const { id } = JSON.parse(accepted.body) as { id: string }
    expect(id).not.toBe('')
    const poll = [
      `GET /api/v1/tasks/${id} HTTP/1.1`,
      `Host: ${new URL(world.service.url).host}`,
      'User-Agent: Go-http-client/1.1',
      `Argo_watcher_deploy_token: ${deployToken}`,
      'Accept-Encoding: gzip',
    ]
    const first = await exchange(poll)
    expect(first.status).toBe(200)
    expect(knownStatuses).toContain((JSON.parse(first.body) as { status: string }).status)
    await world.service.waitForEnd(id)
    expect(JSON.parse((await exchange(poll)).body)).toMatchObject({ status: 'deployed' })
    expect((await world.commits())[0]?.message).toContain(id)
  })

  test('after a failure it reads the address of Argo CD from GET /config, a string', async () => {
    const { body } = await world.service.request('/api/v1/config')
    expect(body).toMatchObject({ argo_cd_url: world.simulator.argoUrl, deployment_timeout: 900, argo_api_retries: 3 })
    expect((await world.service.request('/api/v1/version')).body).toMatch(/^\d+\.\d+\.\d+/)
    expect((await world.service.request('/api/v1/reachability')).body).toEqual({ available: true })
  })
})

/** Sends exactly these header lines, in this order and spelling. */
async function exchange(lines: readonly string[], payload = ''): Promise<{ status: number; body: string }> {
  const { connect } = await import('node:net')
  const { hostname, port } = new URL(world.service.url)
  const socket = connect(Number(port), hostname)
  const head = [...lines, 'Connection: close'].join('\r\n').replace('%', String(Buffer.byteLength(payload)))
  socket.write(`${head}\r\n\r\n${payload}`)
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += chunk
  const [headers = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(headers.split(' ')[1]), body: /chunked/i.test(headers) ? unchunk(body) : body }
}

const unchunk = (body: string) => body.replace(/^[0-9a-f]+\r\n/gim, '').replace(/\r\n/g, '')
