import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import type { HttpServer } from '../http/server/http-server.ts'
import { createDeployLock } from './deploy-lock.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'
import { lockRoutes } from './routes.ts'
import { neverSet, type StoredLock } from './stored-lock.ts'

const windows = parseLockdownSchedule('Fri 17:00 - Mon 08:00')
if ('issue' in windows) throw new Error(windows.issue)
const schedule = { windows, timeZone: 'UTC' }
const fixed = { override_until: null, schedule: { windows: ['Fri 17:00 - Mon 08:00'], time_zone: 'UTC' } }

let app: HttpServer
let read: () => Promise<{ at: Date; stored: StoredLock }>
beforeEach(() => {
  app = quietHttpServer()
  app.register(lockRoutes(createDeployLock({ schedule, read: () => read(), periods: async () => [] }), undefined), {
    prefix: '/api/v1',
  })
})
afterEach(() => app.close())

const paths = ['/api/v1/deploy-lock', '/api/v1/deploy-lock/details']

describe('the deploy lock without an identity provider (spec 4)', () => {
  test.for<[string, boolean]>([
    ['2026-11-20T16:59:59.999Z', false],
    ['2026-11-20T17:00:00Z', true],
  ])('at %s GET says %s', async ([at, active]) => {
    read = async () => ({ at: new Date(at), stored: neverSet })
    const answer = await app.inject('/api/v1/deploy-lock')
    expect(answer).toMatchObject({ statusCode: 200, body: String(active) })
    expect(answer.headers['content-type']).toContain('application/json')
  })

  test('the details of an active lock tell its window and the next one in epoch seconds', async () => {
    read = async () => ({ at: new Date('2026-11-21T12:00:00.500Z'), stored: neverSet })
    const answer = await app.inject('/api/v1/deploy-lock/details')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      active: true,
      source: 'schedule',
      since: 1_795_194_000,
      until: 1_795_420_800,
      reason: null,
      set_by: null,
      next_window: { from: 1_795_798_800, to: 1_796_025_600 },
      ...fixed,
    })
  })

  test('the details of an inactive lock tell the next window alone', async () => {
    read = async () => ({ at: new Date('2026-11-20T16:00:00Z'), stored: neverSet })
    expect((await app.inject('/api/v1/deploy-lock/details')).json()).toEqual({
      active: false,
      source: null,
      since: null,
      until: null,
      reason: null,
      set_by: null,
      next_window: { from: 1_795_194_000, to: 1_795_420_800 },
      ...fixed,
    })
  })

  test.for([
    ['', 'from: must be a number of Unix seconds; to: must be a number of Unix seconds'],
    ['?from=1', 'to: must be a number of Unix seconds'],
    ['?from=yesterday&to=1', 'from: must be a number of Unix seconds'],
    ['?from=2&to=1e9', 'to: must be a number of Unix seconds'],
    ['?from=1&to=253402300800', 'to: must be a number of Unix seconds'],
    ['?from=2&to=2', 'to: must be later than from'],
    ['?from=0&to=7948801', 'to: must be at most 92 days after from'],
  ])('the calendar %s is 400: %s', async ([query, error]) => {
    const answer = await app.inject(`/api/v1/deploy-lock/calendar${query}`)
    expect([answer.statusCode, answer.json()]).toEqual([400, { error }])
  })

  test('the calendar holds 92 days of lockdown windows', async () => {
    const from = 1_795_392_000
    const answer = await app.inject(`/api/v1/deploy-lock/calendar?from=${from}&to=${from + 92 * 86_400}`)
    const weeks = Array.from({ length: 13 }, (_, week) => ({
      kind: 'scheduled',
      from: 1_795_798_800 + week * 604_800,
      to: 1_796_025_600 + week * 604_800,
      reason: null,
      set_by: null,
    }))
    const first = { ...weeks[0], from: 1_795_194_000, to: 1_795_420_800 }
    expect(answer.json()).toEqual({ from, to: from + 92 * 86_400, intervals: [first, ...weeks] })
  })

  test.for(paths)('GET %s is 503 while the state cannot be read', async (path) => {
    read = async () => {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    }
    expect(await app.inject(path)).toMatchObject({ statusCode: 503 })
  })

  test.for(['POST', 'DELETE'] as const)('%s does not exist: 404 in JSON, with and without a body', async (method) => {
    for (const request of [
      {},
      { payload: { reason: 'x' } },
      { headers: { 'content-type': 'text/plain' }, payload: 'x' },
    ]) {
      const answer = await app.inject({ method, url: '/api/v1/deploy-lock', ...request })
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toEqual({ error: `no route for ${method} /api/v1/deploy-lock` })
    }
  })
})
