import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aTask, type Service, startService } from '../support/service.ts'
import { startWorld, withToken } from '../support/world.ts'

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
})

describe('POST /api/v1/tasks with APPS_IN_ANY_NAMESPACE', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ settings: { APPS_IN_ANY_NAMESPACE: 'true', ARGO_NAMESPACE: 'gitops' } })
  })
  afterAll(() => service[Symbol.asyncDispose]())

  test("takes 'namespace/name', and nothing else with a slash", async () => {
    expect((await service.submitTask(aTask({ app: 'team/shop' }))).status).toBe(202)
    for (const app of ['/shop', 'team/', 'a/b/c', 'a//b', '/'])
      expect(await service.submitTask(aTask({ app })), app).toMatchObject({
        status: 406,
        body: { status: 'invalid payload', error: 'app: must be a name, or a namespace/name' },
      })
  })

  test('takes <ARGO_NAMESPACE>/shop and shop for one application', async () => {
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
})

describe('GET /api/v1/tasks/<id>', () => {
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
