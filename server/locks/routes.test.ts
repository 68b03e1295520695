import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import type { HttpServer } from '../http/http-server.ts'
import { lockRoutes } from './routes.ts'

let app: HttpServer
let isActive: () => Promise<boolean>
beforeEach(() => {
  app = quietHttpServer()
  app.register(lockRoutes({ isActive: () => isActive() }), { prefix: '/api/v1' })
})
afterEach(() => app.close())

describe('the deploy lock without an identity provider (spec 4)', () => {
  test.for([true, false])('GET says %s', async (active) => {
    isActive = async () => active
    const answer = await app.inject('/api/v1/deploy-lock')
    expect(answer).toMatchObject({ statusCode: 200, body: String(active) })
    expect(answer.headers['content-type']).toContain('application/json')
  })

  test('GET is 503 while its state cannot be read', async () => {
    isActive = async () => {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    }
    expect(await app.inject('/api/v1/deploy-lock')).toMatchObject({ statusCode: 503 })
  })

  test.for(['POST', 'DELETE'] as const)('%s does not exist: 404 in JSON, with and without a body', async (method) => {
    for (const request of [
      {},
      { payload: { reason: 'x' } },
      { headers: { 'content-type': 'text/plain' }, payload: 'x' },
    ]) {
      const answer = await app.inject({ method, url: '/api/v1/deploy-lock', ...request })
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toEqual({ error: `nothing at ${method} /api/v1/deploy-lock` })
    }
  })
})
