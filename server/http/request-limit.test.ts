import { expect, test } from 'vitest'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import { clientAddress } from './client-address.ts'
import { addRequestLimits, atMostPerMinute } from './request-limit.ts'

async function aServer(max: number, trustedProxies: readonly string[] = []) {
  const app = quietHttpServer({ trustedProxies })
  addRequestLimits(app)
  app.register(async (routes) => {
    routes.post('/api/limited', { config: atMostPerMinute(max) }, async () => ({ done: true }))
    routes.get('/api/free', async (request) => ({ client: clientAddress(request, trustedProxies.length > 0) ?? null }))
  })
  await app.ready()
  const ask = (headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: '/api/limited',
      headers: { 'content-type': 'application/json', ...headers },
      payload: '{}',
    })
  const client = async (headers: Record<string, string> = {}) =>
    (await app.inject({ url: '/api/free', headers })).json().client
  return { app, ask, client, [Symbol.asyncDispose]: () => app.close() }
}

test('one request more than a client may make in a minute answers 429, says why and when to come back', async () => {
  await using server = await aServer(2)
  expect([(await server.ask()).statusCode, (await server.ask()).statusCode]).toEqual([200, 200])
  const refused = await server.ask()
  expect(refused.statusCode).toBe(429)
  expect(refused.json()).toEqual({ error: 'more than 2 requests a minute from one address' })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
  expect(refused.headers['content-type']).toContain('application/json')
  expect((await server.app.inject('/api/free')).statusCode).toBe(200)
})

test('without a limit nothing is refused', async () => {
  await using server = await aServer(0)
  for (let request = 0; request < 20; request += 1) expect((await server.ask()).statusCode).toBe(200)
})

test('nobody gets more by naming another address, unless a trusted proxy names it', async () => {
  const first = { 'x-forwarded-for': '203.0.113.1' }
  const second = { 'x-forwarded-for': '203.0.113.2' }
  await using open = await aServer(1)
  expect([(await open.ask(first)).statusCode, (await open.ask(second)).statusCode]).toEqual([200, 429])
  expect(await open.client(first)).toBeNull()
  expect(await open.client()).toBe('127.0.0.1')
  await using behindProxy = await aServer(1, ['loopback'])
  expect([(await behindProxy.ask(first)).statusCode, (await behindProxy.ask(second)).statusCode]).toEqual([200, 200])
  expect(await behindProxy.client(first)).toBe('203.0.113.1')
})
