import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({
    parts: ['argo cd', 'lines', 'provider'],
    applications: ['shop', 'web', 'late', 'new', 'held'],
    settings: { BAD_POD_GRACE: '1', IDP_PRIVILEGED_GROUPS: 'platform' },
  })
})
afterAll(() => world[Symbol.asyncDispose]())

const deployed = async (app: string, tag: string) => {
  const task = await world.service.waitForEnd(await world.deploy(app, tag))
  expect(task).toMatchObject({ status: 'deployed' })
  return task
}
const failed = async (id: string) => {
  const task = await world.service.waitForEnd(id)
  expect(task).toMatchObject({ status: 'failed', cause: 'crash_loop' })
  return task
}
const notesOf = async ({ id }: TaskRecord) =>
  JSON.stringify((await world.service.request(`/api/v1/tasks/${id}/events`, { headers: withToken })).body)
const fileOf = async ({ file = '' }: TaskRecord) => (await world.simulator.git.readFile('gitops', file)) ?? ''

test('a failed deployment is taken back by a task of its own, which is watched to its end', async () => {
  const good = await deployed('shop', 'v1')
  world.hold('shop', 'crashes', 'v1')
  const bad = await failed(await world.deploy('shop', 'v2', { on_failure: 'rollback' }))
  const rollback = await world.service.waitForEnd(bad.rolled_back_by ?? '')
  expect(rollback).toMatchObject({
    status: 'deployed',
    author: 'deployment-watcher',
    images: [{ image: 'registry.example/shop', tag: 'v1' }],
    is_rollback: true,
    rollback_of: bad.id,
    rollback_target_id: good.id,
  })
  expect(rollback.commit).not.toBe(good.commit)
  expect(await fileOf(rollback)).toContain('v1')
  expect(await notesOf(bad)).toContain(`rolled back by ${rollback.id}`)
})

test('the annotation wants it too, and the submission comes before it', async () => {
  await deployed('web', 'v1')
  world.simulator.control.editApplication('web', (current) => ({
    ...current,
    metadata: {
      ...current.metadata,
      annotations: { ...current.metadata.annotations, 'watcher/on-failure': 'rollback' },
    },
  }))
  world.hold('web', 'crashes', 'v1')
  const bad = await failed(await world.deploy('web', 'v2'))
  expect(await world.service.waitForEnd(bad.rolled_back_by ?? '')).toMatchObject({ status: 'deployed' })
  const again = await failed(await world.deploy('web', 'v3', { on_failure: 'none' }))
  expect(again.rolled_back_by).toBeUndefined()
})

test('what was never deployed does not come back', async () => {
  world.hold('new', 'crashes')
  const bad = await failed(await world.deploy('new', 'v2', { on_failure: 'rollback' }))
  expect(bad.rolled_back_by).toBeUndefined()
  expect(await notesOf(bad)).toContain('not rolled back: no version of registry.example/new was deployed before')
})

test('while deployments are locked nothing is rolled back', async () => {
  await deployed('held', 'v1')
  const ada = await world.signedIn('ada', ['platform'])
  const lock = (method: 'POST' | 'DELETE') => ada.change(world.service.url, '/api/v1/deploy-lock', method)
  world.hold('held', 'crashes', 'v1')
  const id = await world.deploy('held', 'v2', { on_failure: 'rollback' })
  expect((await lock('POST')).status).toBe(200)
  const bad = await failed(id)
  expect((await lock('DELETE')).status).toBe(200)
  expect(await notesOf(bad)).toContain('not rolled back: deployments are locked')
})

test('a newer value in the file stays, whoever committed it', async () => {
  const good = await deployed('late', 'v1')
  world.hold('late', 'crashes', 'v1', 'v3')
  const id = await world.deploy('late', 'v2', { on_failure: 'rollback' })
  await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
  world.gitLine.mood = 'refuse'
  world.gitLine.cut()
  const bad = await failed(id)
  const text = (await fileOf(good)).replace('v2', 'v3')
  await world.simulator.git.commit('gitops', { [good.file ?? '']: text })
  world.gitLine.mood = 'well'
  expect(await world.service.waitForEnd(bad.rolled_back_by ?? '')).toMatchObject({
    status: 'cancelled',
    cause: 'rollback_outdated',
  })
  expect(await fileOf(good)).toBe(text)
})
