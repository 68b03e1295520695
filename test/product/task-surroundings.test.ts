import { describe, expect } from 'vitest'
import { TaskList, TaskRecord } from '../../contract/task.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications('surroundings-backend', 'surroundings-worker', 'surroundings-unused')
})

const recordOf = async (id: string, headers: Record<string, string> = {}) =>
  TaskRecord.parse((await world.service.request(`/api/v1/tasks/${id}`, { headers })).body)

describe('the answer about one task', () => {
  test('names the file, the page of the commit, the version before and what came since; a list names the version before', async () => {
    const first = await world.service.waitForEnd(await world.deploy('surroundings-backend', 'v2'))
    expect(first).toMatchObject({
      status: 'deployed',
      file: 'apps/surroundings-backend/.argocd-source-surroundings-backend.yaml',
      commit_url: `https://code.example/gitops/commit/${first.commit}`,
    })
    expect(first).not.toHaveProperty('previous')
    const second = await world.service.waitForEnd(await world.deploy('surroundings-backend', 'v3'))
    expect(second.previous).toEqual({ id: first.id, images: first.images, ended: first.updated })
    const since = await recordOf(first.id)
    expect(since.deployed_since).toEqual({ id: second.id, images: second.images, ended: second.updated })
    expect(since.newest_since).toEqual({ id: second.id, images: second.images, status: 'deployed' })
    for (const name of ['deployed_since', 'newest_since']) expect(second).not.toHaveProperty(name)
    const { tasks } = TaskList.parse((await world.service.request('/api/v1/tasks?app=surroundings-backend')).body)
    expect(tasks.map(({ previous }) => previous?.id)).toEqual([first.id, undefined])
    for (const task of tasks)
      for (const name of ['file', 'commit_url', 'deployed_since', 'newest_since']) expect(task).not.toHaveProperty(name)
  })

  test('leads to the commit that it ships and to what changed since the deployment before', async () => {
    const repository = 'https://github.com/acme/shop'
    const ship = async (tag: string, sha: string) =>
      world.service.waitForEnd(await world.deploy('surroundings-worker', tag, { source: { repository, sha } }))
    const first = await ship('v2', '8f3a2c1')
    expect(first).toMatchObject({ source: { url: `${repository}/commit/8f3a2c1` } })
    expect(first).not.toHaveProperty('compare_url')
    expect((await ship('v3', '4f3c1d2')).compare_url).toBe(`${repository}/compare/8f3a2c1...4f3c1d2`)
  })

  test('names similar applications; those without a task only to callers with a credential', async () => {
    await world.service.waitForEnd(await world.deploy('surroundings-backend', 'v4'))
    const ask = async (app: string) => {
      const { body } = await world.service.submitTask(aTask({ app, timeout: 5 }))
      const { id, status } = await world.service.waitForEnd((body as { id: string }).id)
      expect(status).toBe('app not found')
      return [(await recordOf(id)).similar_apps, (await recordOf(id, withToken)).similar_apps]
    }
    expect(await ask('surroundings-backnd')).toEqual([['surroundings-backend'], ['surroundings-backend']])
    expect(await ask('surroundings-unusd')).toEqual([undefined, ['surroundings-unused']])
    expect(await ask('nothing-of-the-kind')).toEqual([undefined, undefined])
  })
})
