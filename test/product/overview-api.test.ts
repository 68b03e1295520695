import { describe, expect } from 'vitest'
import { IssuedDeployToken } from '../../contract/auth.ts'
import { EffectiveSettings } from '../../contract/effective-settings.ts'
import { History } from '../../contract/history.ts'
import { ServiceStatus } from '../../contract/service-status.ts'
import { Versions } from '../../contract/versions.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
let id: string
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications('overview', 'overview-new')
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
      total: {
        counts: { deployed: 1 },
        locked_seconds: 0,
        deploy_frequency: 1,
        change_failure_rate: 0,
        rollbacks: [],
      },
      before: { counts: {}, deploy_frequency: 0, rollbacks: [] },
      by_day: [{ counts: { deployed: 1 } }],
      marks: [{ id, app: 'overview', status: 'deployed' }],
    })
    expect(History.parse((await read('history')).body)).toMatchObject({ days: 30, time_zone: 'UTC' })
    expect(await read('history?days=7&app=argocd%2Foverview')).toMatchObject({
      body: { total: { counts: { deployed: 1 } } },
    })
    expect(await read('history?days=7&app=overview&environment=staging')).toMatchObject({
      body: { total: { counts: {}, deploy_frequency: 0 } },
    })
    expect(await read('history?days=90&project=none')).toMatchObject({ body: { total: { counts: {} }, causes: [] } })
  })
})

test('without PUBLIC_BADGES there is no badge, as there is no other unknown path', async () => {
  expect(await read('apps/overview/badge.svg')).toMatchObject({
    status: 404,
    body: { error: 'no route for GET /api/v1/apps/overview/badge.svg' },
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

describe('GET /api/v1/versions', () => {
  const image = (app: string) => `registry.example/${app}`
  const versions = async (query: string, headers?: Record<string, string>) =>
    Versions.parse((await read(`versions?${query}`, headers)).body)
  const runningOf = async (app: string) => (await versions(`app=${app}`)).apps.flatMap(({ images }) => images)
  const namesOf = async (headers?: Record<string, string>) =>
    (await versions('search=overview', headers)).apps.map(({ app }) => app)

  test('has what runs since the end of its task', async () => {
    const { updated } = await world.service.getTask(id)
    const running = {
      image: image('overview'),
      tag: 'v2',
      since: updated,
      task_id: id,
      task_status: 'deployed',
      drift: false,
    }
    await expect.poll(() => runningOf('argocd%2Foverview')).toEqual([running])
    expect(await versions('image=OVERVIEW&app=overview')).toMatchObject({ total: 1, stale: false, has_more: false })
    expect(await versions('search=overview%3Av2&drift=true')).toMatchObject({ total: 0, apps: [] })
  })

  test('shows an application without a task to callers whose credential is for it', async () => {
    const ada = await world.signedIn('ada')
    const tokenFor = async (...apps: readonly string[]) => {
      const request = { apps, description: 'versions', expires: Math.floor(Date.now() / 1000) + 600 }
      const issued = await ada.change(world.service.url, '/api/v1/deploy-tokens', 'POST', request)
      return { Authorization: IssuedDeployToken.parse(await issued.json()).token }
    }
    await expect.poll(() => namesOf(withToken)).toEqual(['overview', 'overview-new'])
    expect(await namesOf()).toEqual(['overview'])
    expect(await namesOf(await tokenFor('overview-n*'))).toEqual(['overview', 'overview-new'])
    expect(await namesOf(await tokenFor('other'))).toEqual(['overview'])
    expect((await versions('app=overview-new', withToken)).apps).toMatchObject([
      { app: 'overview-new', images: [{ image: image('overview-new'), tag: 'v0', seen_since: expect.any(Number) }] },
    ])
  })

  test('marks a change by another author, until the next deployment', async () => {
    const file = 'apps/overview/.argocd-source-overview.yaml'
    const parameter = '{ name: image.tag, value: v9, forceString: true }'
    await world.simulator.git.commit('gitops', { [file]: `helm: { parameters: [${parameter}] }\n` })
    world.simulator.controller.refreshNow({ name: 'overview', namespace: 'argocd' }, 3)
    const drifted = { image: image('overview'), tag: 'v9', seen_since: expect.any(Number), drift: true }
    await expect.poll(() => runningOf('overview')).toEqual([{ ...drifted, deployed_tag: 'v2' }])
    const next = await world.deploy('overview', 'v3')
    await world.service.waitForEnd(next)
    await expect.poll(() => runningOf('overview')).toMatchObject([{ tag: 'v3', task_id: next, drift: false }])
  })

  test('keeps the last state while Argo CD is away, and says since when', async () => {
    const { argo } = world.simulator
    argo.faults.add({ action: { kind: 'reset' } })
    argo.endStreams('reset')
    try {
      await expect
        .poll(() => versions('app=overview'))
        .toMatchObject({
          stale: true,
          stale_since: expect.any(Number),
          apps: [{ app: 'overview' }],
        })
    } finally {
      argo.faults.clear()
    }
    await expect.poll(() => versions('app=overview')).toMatchObject({ stale: false })
  })
})

test.for([
  ['history?days=2', 'days: must be one of 1, 7, 30, 90'],
  ['history?days=', 'days: must be one of 1, 7, 30, 90'],
  ['history?tz=Mars/Olympus', 'tz: must be an IANA time zone such as UTC or Europe/Berlin'],
  ['history?tz=%2B02:00', 'tz: must be an IANA time zone such as UTC or Europe/Berlin'],
  [`history?tz=${'A'.repeat(65)}`, 'tz: must be at most 64 characters long'],
  ['history?app=%00', 'app: must not contain a NUL character'],
  [`history?environment=${'a'.repeat(256)}`, 'environment: must be at most 255 characters long'],
  [`history?project=${'a'.repeat(256)}`, 'project: must be at most 255 characters long'],
  ['versions?drift=maybe', 'drift: must be true or false'],
  ['versions?search=%00', 'search: must not contain a NUL character'],
  [`versions?image=${'a'.repeat(256)}`, 'image: must be at most 255 characters long'],
  ['tasks/names', 'field: must be one of app, project, environment, author'],
  ['tasks/names?field=images', 'field: must be one of app, project, environment, author'],
  ['tasks/names?field=app&search=%00', 'search: must not contain a NUL character'],
  ['tasks/counts?cause=none', 'cause: must be a failure code'],
  ['tasks/counts?ended_from=x', 'ended_from: must be a number of Unix seconds'],
  ['tasks/counts?ended_from=2&ended_to=1', 'ended_from: must not be later than ended_to'],
  ['tasks?from_timestamp=2&to_timestamp=1', 'from_timestamp: must not be later than to_timestamp'],
  ['tasks?ended_from=2&ended_to=1', 'ended_from: must not be later than ended_to'],
] as const)('%s is rejected: %s', async ([path, error]) => {
  expect(await read(path)).toMatchObject({ status: 400, body: { error } })
})
