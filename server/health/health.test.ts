import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Health } from '../../contract/health.ts'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import type { HttpServer } from '../http/server/http-server.ts'
import { createCheckParts } from './check-parts.ts'
import { probeRoutes } from './probe-routes.ts'
import { renderServiceConfig, type ShownSettings } from './render-service-config.ts'
import { serviceRoutes } from './service-routes.ts'
import { version } from './version.ts'

const shown: ShownSettings = {
  argoUrl: 'https://ada:canary@argo.example/base',
  argoUrlAlias: undefined,
  argoApiTimeoutSeconds: 60,
  argoApiRetries: 3,
  deploymentTimeoutSeconds: 900,
  acceptSuspended: false,
  refreshByDefault: true,
  registryProxy: 'ada:canary@proxy.example/cache',
  skipTlsVerify: false,
  logLevel: 'info',
  lockdownSchedule: undefined,
  hasWebhook: true,
  hasMattermost: false,
  identityProvider: undefined,
}

let app: HttpServer
let database: () => Promise<string | undefined>
let controller: Health['delivery_controller']
let isDraining: boolean

beforeEach(() => {
  database = async () => undefined
  controller = { status: 'up', stream: 'live' }
  isDraining = false
  app = quietHttpServer()
  const checkParts = createCheckParts({ checkDatabase: () => database(), controllerState: () => controller })
  app.register(probeRoutes({ checkParts, isDraining: () => isDraining }))
  app.register(
    serviceRoutes({
      checkParts,
      config: renderServiceConfig(shown),
      settings: { groups: [] },
      describeStatus: async () => ({ version, started: 0, argo_cd: { status: 'up' } }),
      requireServiceReader: async () => undefined,
      mayReadService: async () => false,
    }),
    { prefix: '/api/v1' },
  )
})
afterEach(() => app.close())

const get = async (url: string) => {
  const answer = await app.inject(url)
  return { status: answer.statusCode, body: answer.json() as unknown, type: answer.headers['content-type'] }
}
const isDown = async () => {
  throw new Error('connect ECONNREFUSED db.internal canary')
}
const down = { status: 'down', detail: 'stream closed' } as const

describe('/healthz', () => {
  test('names the database and the delivery controller', async () => {
    expect(await get('/healthz')).toMatchObject({
      status: 200,
      body: { status: 'up', database: { status: 'up' }, delivery_controller: { status: 'up', stream: 'live' } },
    })
  })

  test('is 200 while the delivery controller is down, and names it', async () => {
    controller = down
    expect(await get('/healthz')).toMatchObject({
      status: 200,
      body: { status: 'up', delivery_controller: down },
    })
  })

  test('is 503 only while the database is down, and names no host', async () => {
    database = isDown
    const answer = await get('/healthz')
    expect(answer).toMatchObject({ status: 503, body: { status: 'down', database: { status: 'down' } } })
    expect(JSON.stringify(answer)).not.toMatch(/canary|internal/)
  })

  test('shows what there is to know of the database', async () => {
    database = async () => 'embedded database: for trials only'
    expect(await get('/healthz')).toMatchObject({
      body: { database: { detail: 'embedded database: for trials only' } },
    })
  })

  test('does not wait longer than 2 s for the database', async () => {
    database = () => new Promise(() => undefined)
    const start = performance.now()
    expect(await get('/healthz')).toMatchObject({ status: 503, body: { database: { detail: 'no answer within 2 s' } } })
    expect(performance.now() - start).toBeLessThan(20_000) // ten times the limit
  })

  test('probes that arrive together share one look at the database', async () => {
    const look = vi.fn(async () => undefined)
    database = look
    await Promise.all(Array.from({ length: 20 }, () => get('/healthz')))
    expect(look.mock.calls.length).toBeLessThan(20)
    const before = look.mock.calls.length
    await get('/healthz')
    expect(look.mock.calls.length).toBe(before + 1)
  })
})

describe('/livez and /readyz', () => {
  test.for([
    { draining: false, databaseDown: false, live: 200, ready: 200 },
    { draining: false, databaseDown: true, live: 200, ready: 503 },
    { draining: true, databaseDown: false, live: 200, ready: 503 },
  ])('draining $draining, database down $databaseDown: live $live, ready $ready', async (row) => {
    isDraining = row.draining
    if (row.databaseDown) database = isDown
    expect(await get('/livez')).toMatchObject({ status: row.live, body: { status: 'up' } })
    expect(await get('/readyz')).toMatchObject({
      status: row.ready,
      body:
        row.ready === 200
          ? { status: 'up' }
          : { status: 'down', detail: row.draining ? 'draining' : expect.any(String) },
    })
  })
})

describe('/api/v1/reachability', () => {
  test.for([
    { databaseDown: false, controllerDown: false, body: { available: true } },
    { databaseDown: true, controllerDown: false, body: { available: false, reason: 'database' } },
    { databaseDown: false, controllerDown: true, body: { available: false, reason: 'argocd' } },
    { databaseDown: true, controllerDown: true, body: { available: false, reason: 'both' } },
  ])('database down $databaseDown, controller down $controllerDown', async ({ databaseDown, controllerDown, body }) => {
    if (databaseDown) database = isDown
    if (controllerDown) controller = down
    expect(await get('/api/v1/reachability')).toMatchObject({ status: 200, body })
  })
})

test('/api/v1/version is a bare JSON string', async () => {
  expect(await get('/api/v1/version')).toEqual({
    status: 200,
    body: expect.stringMatching(/^\d+\.\d+\.\d+/),
    type: 'application/json; charset=utf-8',
  })
})

test('/api/v1/config shows only what clients may know, without users and passwords', async () => {
  expect(await get('/api/v1/config')).toMatchObject({
    status: 200,
    body: {
      argo_cd_url: 'https://argo.example/base',
      argo_api_timeout: 60,
      argo_api_retries: 3,
      deployment_timeout: 900,
      accept_suspended_app: false,
      argo_refresh_app: true,
      registry_proxy_url: 'proxy.example/cache',
      state_type: 'postgres',
      skip_tls_verify: false,
      log_level: 'info',
      oidc: { enabled: false },
      webhook: { enabled: true },
      mattermost: { enabled: false },
    },
  })
})
