import { describe, expect } from 'vitest'
import { EffectiveSettings } from '../../contract/effective-settings.ts'
import { History } from '../../contract/history.ts'
import { ServiceStatus } from '../../contract/service-status.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
let id: string
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications('overview')
  id = await world.deploy('overview', 'v2')
  await world.service.waitForEnd(id)
})

const read = (path: string, headers: Record<string, string> = {}) =>
  world.service.request(`/api/v1/${path}`, { headers })

describe('GET /api/v1/history', () => {
  test('tells of today, of the time before, and of each deployment', async () => {
    const history = History.parse((await read('history?days=1&tz=Europe/Berlin&app=overview')).body)
    expect(history).toMatchObject({
      days: 1,
      time_zone: 'Europe/Berlin',
      total: { counts: { deployed: 1 }, locked_seconds: 0 },
      before: { counts: {} },
      by_day: [{ counts: { deployed: 1 } }],
      marks: [{ id, app: 'overview', status: 'deployed' }],
    })
    expect(History.parse((await read('history')).body)).toMatchObject({ days: 30, time_zone: 'UTC' })
    expect(await read('history?days=7&app=argocd%2Foverview')).toMatchObject({
      body: { total: { counts: { deployed: 1 } } },
    })
    expect(await read('history?days=90&project=none')).toMatchObject({ body: { total: { counts: {} }, causes: [] } })
  })
})

describe('GET /api/v1/settings', () => {
  test('shows the settings to callers with a credential, and never a secret', async () => {
    const { status, body } = await read('settings', withToken)
    expect(status).toBe(200)
    const settings = EffectiveSettings.parse(body).groups.flatMap((group) => group.settings)
    expect(settings.find(({ name }) => name === 'ARGO_TOKEN')).toMatchObject({ value: 'set', origin: 'environment' })
    expect(settings.find(({ name }) => name === 'ARGO_URL')?.value).toBe(world.simulator.argoUrl)
    expect(JSON.stringify(body)).not.toContain(withToken['Watcher-Deploy-Token'])
  })

  test('names what opens it to callers without one, and refuses a bad one', async () => {
    const ways = 'send the deploy token in the header Watcher-Deploy-Token'
    expect(await read('settings')).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining(`no credential was given: ${ways}`) },
    })
    expect(await read('settings', { 'Watcher-Deploy-Token': 'wrong' })).toMatchObject({ status: 401 })
  })
})

describe('GET /api/v1/status', () => {
  test('tells everybody of the service and of Argo CD', async () => {
    const status = ServiceStatus.parse((await read('status')).body)
    expect(status).toEqual({
      version: expect.any(String),
      started: expect.any(Number),
      argo_cd: { status: 'up', stream: expect.any(String) },
    })
  })

  test('tells more to callers with a credential', async () => {
    const answer = ServiceStatus.parse((await read('status', withToken)).body)
    expect(answer).toMatchObject({
      argo_cd: { status: 'up', version: expect.stringMatching(/^v\d+\.\d+\.\d+/), applications: expect.any(Number) },
      database: { version: expect.stringMatching(/^\d+\.\d+/), answer_ms: expect.any(Number) },
      replicas: [{ id: expect.any(String), tasks: expect.any(Number) }],
    })
    expect(Math.abs((answer.argo_cd.last_message ?? 0) - Date.now() / 1000)).toBeLessThan(30)
    expect(Math.abs((answer.replicas?.[0]?.heartbeat ?? 0) - Date.now() / 1000)).toBeLessThan(30)
  })
})

test.for([
  ['history?days=2', 'days: must be one of 1, 7, 30, 90'],
  ['history?days=', 'days: must be one of 1, 7, 30, 90'],
  ['history?tz=Mars/Olympus', 'tz: must be an IANA time zone such as UTC or Europe/Berlin'],
  ['history?tz=%2B02:00', 'tz: must be an IANA time zone such as UTC or Europe/Berlin'],
  [`history?tz=${'A'.repeat(65)}`, 'tz: must be at most 64 characters long'],
  ['history?app=%00', 'app: must not contain a NUL character'],
  [`history?project=${'a'.repeat(256)}`, 'project: must be at most 255 characters long'],
  ['tasks/names', 'field: must be one of app, project, author'],
  ['tasks/names?field=images', 'field: must be one of app, project, author'],
  ['tasks/names?field=app&search=%00', 'search: must not contain a NUL character'],
  ['tasks/counts?cause=none', 'cause: must be a failure code'],
  ['tasks/counts?ended_from=x', 'ended_from: must be a number of Unix seconds'],
  ['tasks/counts?ended_from=2&ended_to=1', 'ended_from: must not be later than ended_to'],
  ['tasks?from_timestamp=2&to_timestamp=1', 'from_timestamp: must not be later than to_timestamp'],
  ['tasks?ended_from=2&ended_to=1', 'ended_from: must not be later than ended_to'],
] as const)('%s is rejected: %s', async ([path, error]) => {
  expect(await read(path)).toMatchObject({ status: 400, body: { error } })
})
