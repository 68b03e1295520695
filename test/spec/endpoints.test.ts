import { describe, expect } from 'vitest'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications('endpoints-shop', 'endpoints-slow')
})

const bodyOf = (answer: { body: unknown }) => answer.body as Record<string, unknown>

describe('POST /api/v1/tasks (spec 2.3, 4)', () => {
  test('answers 202 with an id and "accepted"; GET then shows "in progress", never "accepted"', async () => {
    const answer = await world.service.submitTask(
      aTask({ app: 'endpoints-slow', images: [{ image: 'registry.example/endpoints-slow', tag: 'v9' }] }),
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
})

describe('POST /api/v1/tasks with APPS_IN_ANY_NAMESPACE', () => {
  test("takes 'namespace/name', and nothing else with a slash", async () => {
    expect((await world.service.submitTask(aTask({ app: 'team/endpoints-shop' }))).status).toBe(202)
    for (const app of ['/endpoints-shop', 'team/', 'a/b/c', 'a//b', '/'])
      expect(await world.service.submitTask(aTask({ app })), app).toMatchObject({
        status: 406,
        body: { status: 'invalid payload', error: 'app: must be a name, or a namespace/name' },
      })
  })

  test('takes <ARGO_NAMESPACE>/shop and shop for one application', async () => {
    const key = { 'Idempotency-Key': 'retry-1' }
    const wanting = (app: string) => aTask({ app, images: [{ image: 'registry.example/endpoints-shop', tag: 'v9' }] })
    const first = bodyOf(await world.service.submitTask(wanting('argocd/endpoints-shop'), key))
    expect(bodyOf(await world.service.submitTask(wanting('endpoints-shop'), key))).toEqual(first)
    expect(await world.service.getTask(String(first.id))).toMatchObject({
      app: 'endpoints-shop',
      status: 'in progress',
    })
    const second = bodyOf(await world.service.submitTask(wanting('endpoints-shop')))
    expect(await world.service.getTask(String(first.id))).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    for (const app of ['endpoints-shop', 'argocd/endpoints-shop']) {
      const { body } = await world.service.request(`/api/v1/tasks?app=${app}`)
      expect(body).toMatchObject({ tasks: [{ id: second.id }, { id: first.id }], total: 2 })
    }
  })
})

describe('GET /api/v1/tasks/<id>', () => {
  test('with ?wait= answers at the end of the task, not after the whole wait', async () => {
    const id = await world.deploy('endpoints-shop', 'v-wait')
    const began = performance.now()
    const { body } = await world.service.request(`/api/v1/tasks/${id}?wait=60`)
    expect(body).toMatchObject({ status: 'deployed' })
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  test('with ?wait= answers in time while the task goes on, and refuses a wait that is none', async () => {
    const { body } = await world.service.submitTask(
      aTask({ app: 'endpoints-slow', images: [{ image: 'registry.example/endpoints-slow', tag: 'v9' }] }),
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
    const id = await world.announce('endpoints-slow', 'v-listed')
    const { body } = await world.service.request('/api/v1/tasks?app=endpoints-slow&limit=1')
    expect(body).toMatchObject({ tasks: [{ id, app: 'endpoints-slow' }], total: expect.any(Number) })
    expect((await world.service.request('/api/v1/tasks?search=v-listed')).body).toMatchObject({
      tasks: [{ id }],
      total: 1,
    })
  })
})

describe('DELETE /api/v1/tasks/<id>', () => {
  test('cancels an unfinished task for a caller with a credential, once', async () => {
    const id = await world.announce('endpoints-slow', 'v-cancelled')
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
