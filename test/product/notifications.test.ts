import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Deliveries } from '../../contract/notify/delivery.ts'
import { openConfigFile } from '../support/config-file.ts'
import { runCommand } from '../support/run-program.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }
type Told = { readonly type: string; readonly data: { readonly id: string; readonly status: string } }

const secret = `whsec_${Buffer.from('a key of the tests, 32 bytes long').toString('base64')}`
const received: Received[] = []
/** How the receiver answers, by path; 200 unless said otherwise. */
const answers = new Map<string, { readonly status: number; readonly headers?: Record<string, string> }>()
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  received.push({ path: request.url ?? '', headers: request.headers, body })
  const { status, headers = {} } = answers.get(request.url ?? '') ?? { status: 200 }
  response.writeHead(status, headers).end('x'.repeat(100))
})
const opened = new AsyncDisposableStack()
let address: string
let config: ReturnType<typeof openConfigFile>
let world: World
const target = (path: string, more: object = {}) => ({
  kind: 'webhook',
  url: `${address}${path}`,
  secret: { env: 'HOOK_SECRET' },
  allow_private: true,
  ...more,
})
const notify = (targets: object, routes: object[]) => config.write({ notifications: { targets, routes } })
const everything = ['started', 'succeeded', 'recovered', 'failed', 'aborted', 'cancelled']

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  opened.defer(() => new Promise<void>((resolve) => void receiver.close(() => resolve())))
  opened.defer(() => receiver.closeAllConnections())
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  config = opened.use(openConfigFile({}))
  world = opened.use(
    await startWorld({
      parts: ['argo cd', 'provider', 'browser'],
      applications: ['shop', 'web'],
      settings: {
        CONFIG_FILE: config.file,
        HOOK_SECRET: secret,
        IDP_PRIVILEGED_GROUPS: 'platform',
        BAD_POD_GRACE: '1',
        WEBHOOK_ENABLED: 'true',
        WEBHOOK_URL: `${address}/variables`,
        WEBHOOK_FORMAT: '{"app":"{{.App}}","status":"{{.Status}}"}',
        WEBHOOK_AUTHORIZATION_HEADER_NAME: 'X-Token',
        WEBHOOK_AUTHORIZATION_HEADER_VALUE: 'of the receiver',
        WEBHOOK_ALLOWED_RESPONSE_CODES: '200,202',
      },
    }),
  )
})
afterAll(() => opened.disposeAsync())
beforeEach(() => {
  received.length = 0
  answers.clear()
})
afterEach(() => config.write({}))

const toldAt = (path: string) => received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Told)
const typesAt = (path: string, id: string) =>
  toldAt(path)
    .filter(({ data }) => data.id === id)
    .map(({ type }) => type)
const deliveries = async (state?: string) =>
  Deliveries.parse(
    (await world.service.request(`/api/v1/deliveries${state ? `?state=${state}` : ''}`, { headers: withToken })).body,
  ).deliveries

test('a deployment is told from its start to its end, once each, signed, in order', async () => {
  notify({ all: target('/all'), ends: target('/ends') }, [
    { events: everything, targets: ['all'] },
    { apps: ['sh*'], events: ['succeeded', 'failed'], targets: ['ends', 'all'] },
  ])
  const id = await world.deploy('shop', 'v1')
  await expect.poll(() => typesAt('/all', id)).toEqual(['deployment.started', 'deployment.succeeded'])
  await expect.poll(() => typesAt('/ends', id)).toEqual(['deployment.succeeded'])
  for (const { headers, body } of received.filter(({ path }) => path !== '/variables'))
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ data: { id } })
  expect(toldAt('/ends')[0]?.data).toMatchObject({ status: 'deployed', app: 'shop', diagnosis: expect.any(Object) })
  const sent = async () => (await deliveries('sent')).filter(({ target: name }) => name === 'all' || name === 'ends')
  await expect.poll(async () => (await sent()).length).toBe(3)
})

test('a failure, the success after it, and what is superseded have events of their own', async () => {
  notify({ all: target('/all') }, [{ events: everything, targets: ['all'] }])
  world.hold('web', 'crashes')
  const failed = await world.deploy('web', 'v1')
  await expect.poll(() => typesAt('/all', failed)).toEqual(['deployment.started', 'deployment.failed'])
  world.hold('web', 'never-ready')
  const superseded = await world.deploy('web', 'v2')
  await expect.poll(() => typesAt('/all', superseded)).toEqual(['deployment.started'])
  world.hold('web', 'never-ready', 'v3')
  const recovered = await world.deploy('web', 'v3')
  await expect.poll(() => typesAt('/all', superseded)).toEqual(['deployment.started', 'deployment.cancelled'])
  await expect.poll(() => typesAt('/all', recovered)).toEqual(['deployment.started', 'deployment.recovered'])
})

test('a task without a credential is told only where the route says so', async () => {
  notify({ known: target('/known'), any: target('/any') }, [
    { events: ['failed'], targets: ['known'] },
    { events: ['failed'], targets: ['any'], anonymous: true },
  ])
  const id = await world.service.acceptTask(aTask({ app: 'gone' }))
  await expect.poll(() => typesAt('/any', id)).toEqual(['deployment.failed'])
  expect(typesAt('/known', id)).toEqual([])
})

test('annotations of the application add targets; an unknown one is a note in the timeline', async () => {
  await world.addApplications('noted')
  world.simulator.control.editApplication('noted', (current) => ({
    ...current,
    metadata: {
      ...current.metadata,
      annotations: {
        ...current.metadata.annotations,
        'watcher/notify': 'own, lost',
        'watcher/notify-on': 'succeeded',
      },
    },
  }))
  notify({ own: target('/own') }, [])
  const id = await world.deploy('noted', 'v1')
  await expect.poll(() => typesAt('/own', id)).toEqual(['deployment.succeeded'])
  const { body } = await world.service.request(`/api/v1/tasks/${id}/events`, { headers: withToken })
  expect(JSON.stringify(body)).toContain('names no such target')
})

test("argo-watcher's variables send their format at the start and the end", async () => {
  answers.set('/variables', { status: 202 })
  await world.deploy('shop', 'v-variables')
  await expect
    .poll(() => received.filter(({ path }) => path === '/variables').map(({ body }) => body))
    .toEqual(['{"app":"shop","status":"in progress"}', '{"app":"shop","status":"deployed"}'])
  const { headers } = received.find(({ path }) => path === '/variables') ?? {}
  expect(headers).toMatchObject({ 'x-token': 'of the receiver', 'content-type': 'application/json' })
})

test('a change of the deploy lock is told where a route says so', async () => {
  notify({ locks: target('/locks') }, [{ events: ['lock_changed'], targets: ['locks'] }])
  const ada = await world.signedIn('ada', ['platform'])
  const change = (method: 'POST' | 'DELETE', body?: object) =>
    ada.change(world.service.url, '/api/v1/deploy-lock', method, body)
  expect((await change('POST', { reason: 'failover' })).status).toBe(200)
  expect((await change('DELETE')).status).toBe(200)
  await expect
    .poll(() => toldAt('/locks').map(({ type, data }) => ({ type, ...data })))
    .toMatchObject([
      { type: 'lock.changed', active: true, source: 'manual', reason: 'failover', changed_by: 'ada' },
      { type: 'lock.changed', active: false, changed_by: 'ada' },
    ])
})

describe('a receiver', () => {
  const submit = (app = 'gone') => world.service.acceptTask(aTask({ app }), withToken)

  test('that answers 503 is told again under the same id', async () => {
    notify({ busy: target('/busy') }, [{ events: ['failed'], targets: ['busy'] }])
    answers.set('/busy', { status: 503 })
    const id = await submit()
    await expect.poll(() => typesAt('/busy', id)).toHaveLength(1)
    answers.delete('/busy')
    await expect.poll(() => typesAt('/busy', id)).toHaveLength(2)
    const ids = received.filter(({ path }) => path === '/busy').map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
  })

  test.for([
    [404, {}, 'the receiver answered 404'],
    [301, { location: 'http://example.com/' }, 'the receiver answered 301'],
  ] as const)('that answers %i is not told again until a user wishes it', async ([status, headers, error]) => {
    const path = `/gone-${status}`
    notify({ gone: target(path) }, [{ events: ['failed'], targets: ['gone'] }])
    answers.set(path, { status, headers })
    const id = await submit()
    const ofTask = async () => (await deliveries('dead')).find(({ task_id }) => task_id === id)
    await expect.poll(ofTask).toMatchObject({ event: 'failed', attempts: 1, last_error: error })
    answers.delete(path)
    const ada = await world.signedIn('ada', ['platform'])
    const retry = `/api/v1/deliveries/${(await ofTask())?.id}/retry`
    expect((await ada.change(world.service.url, retry, 'POST')).status).toBe(200)
    await expect.poll(() => typesAt(path, id)).toHaveLength(2)
    expect((await ada.change(world.service.url, retry, 'POST')).status).toBe(404)
    expect((await world.service.request(retry, { method: 'POST', headers: withToken })).status).toBe(401)
  })

  test('that answers 410 is told nothing until its entry changes or one delivery is sent again', async () => {
    const routes = [{ events: ['failed'], targets: ['gone'] }]
    notify({ gone: target('/gone-410') }, routes)
    answers.set('/gone-410', { status: 410 })
    const first = await submit()
    const off = async () => (await deliveries('off')).map(({ task_id }) => task_id)
    await expect.poll(off).toEqual([first])
    const second = await submit()
    await expect.poll(off).toEqual([second, first])
    expect(typesAt('/gone-410', second)).toEqual([])
    const targets = async () =>
      (await world.service.request('/api/v1/notification-targets', { headers: withToken })).body
    expect(await targets()).toMatchObject({
      targets: [
        { name: 'gone', disabled: { error: 'the receiver answered 410' }, last: { state: 'off' } },
        { name: 'variables:webhook' },
      ],
    })
    answers.delete('/gone-410')
    const ada = await world.signedIn('ada', ['platform'])
    const [{ id } = { id: '' }] = await deliveries('off')
    expect((await ada.change(world.service.url, `/api/v1/deliveries/${id}/retry`, 'POST')).status).toBe(200)
    await expect.poll(() => typesAt('/gone-410', second)).toEqual(['deployment.failed'])
    answers.set('/gone-410', { status: 410 })
    const third = await submit()
    await expect.poll(off).toContain(third)
    answers.delete('/gone-410')
    notify({ gone: target('/gone-410', { logs: true }) }, routes)
    const fourth = await submit()
    await expect.poll(() => typesAt('/gone-410', fourth)).toEqual(['deployment.failed'])
    const audit = await ada.request(`${world.service.url}/api/v1/audit`)
    expect(await audit.json()).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ action: 'target_disabled', subject: 'gone' })]),
    })
  })

  test('that rejected one is sent it again by a button of the Settings page', async () => {
    notify({ gone: target('/page') }, [{ events: ['failed'], targets: ['gone'] }])
    answers.set('/page', { status: 404 })
    const id = await submit()
    await expect.poll(async () => (await deliveries('dead')).map(({ task_id }) => task_id)).toContain(id)
    answers.delete('/page')
    await using settings = await world.open('/settings', { as: world.ada })
    const table = settings.page.getByRole('table', { name: 'Notifications that were not taken' })
    const row = table.getByRole('row').filter({ hasText: 'the receiver answered 404' }).first()
    await row.getByRole('button', { name: `Send the notification of ${id.slice(0, 8)} to gone again` }).click()
    await expect.poll(() => typesAt('/page', id)).toHaveLength(2)
    expect(await settings.page.getByRole('alert').count()).toBe(0)
  })

  test('of this machine is not told without allow_private', async () => {
    notify({ inside: target('/inside', { allow_private: false }) }, [{ events: ['failed'], targets: ['inside'] }])
    const id = await submit()
    const dead = async () => (await deliveries('dead')).find(({ task_id }) => task_id === id)?.last_error
    await expect.poll(dead).toContain('the address is of this machine or of a private network')
    expect(typesAt('/inside', id)).toEqual([])
  })

  test('that hangs keeps no other from being told', async () => {
    await using hanging = await startHanging()
    notify({ hanging: { ...target(''), url: hanging.url }, well: target('/well') }, [
      { events: ['failed'], targets: ['hanging', 'well'] },
    ])
    const ids = await Promise.all(['gone-1', 'gone-2', 'gone-3'].map(submit))
    await expect.poll(() => new Set(toldAt('/well').map(({ data }) => data.id))).toEqual(new Set(ids))
  })
})

test('what waits outlives a kill of its replica', async () => {
  notify({ later: target('/later') }, [{ events: ['failed'], targets: ['later'] }])
  answers.set('/later', { status: 500 })
  const id = await world.service.acceptTask(aTask({ app: 'gone' }), withToken)
  await expect.poll(() => typesAt('/later', id)).toHaveLength(1)
  await world.service.kill('SIGKILL')
  answers.delete('/later')
  await world.service.restart()
  await expect.poll(() => typesAt('/later', id), { timeout: 60_000 }).toHaveLength(2)
})

test('npm run deliveries lists them, and sends a dead one again', async () => {
  notify({ gone: target('/command') }, [{ events: ['failed'], targets: ['gone'] }])
  answers.set('/command', { status: 404 })
  const id = await world.service.acceptTask(aTask({ app: 'gone' }), withToken)
  const dead = async () => (await deliveries('dead')).find(({ task_id }) => task_id === id)
  await expect.poll(dead).toMatchObject({ last_error: 'the receiver answered 404' })
  const settings = { ...world.settings, DATABASE_URL: world.databaseUrl }
  const run = (...args: string[]) => runCommand('deliveries', args, settings)
  const [delivery] = [(await dead())?.id ?? '']
  expect((await run('list', 'dead')).stdout).toContain(`${delivery}\tdead`)
  answers.delete('/command')
  expect((await run('retry', delivery)).stdout).toBe(`${delivery} is sent again\n`)
  await expect.poll(() => typesAt('/command', id)).toHaveLength(2)
  expect(await run('retry', delivery)).toMatchObject({ code: 1, stderr: 'no delivery with this id is dead or off\n' })
  expect(await run('list', 'lost')).toMatchObject({ code: 2 })
})

test('callers for some applications see no deliveries', async () => {
  expect((await world.service.request('/api/v1/deliveries')).status).toBe(401)
  expect((await world.service.request('/api/v1/deliveries?state=lost', { headers: withToken })).status).toBe(400)
})

async function startHanging() {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
