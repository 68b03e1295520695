import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { deployToken, startWorld, type World, withToken } from '../support/world.ts'

const settings = { POD_LOG_LINES: '2', BAD_POD_GRACE: '2s' }
const says = ['not shown', `connecting with ${deployToken}`, `fatal: ${'x'.repeat(400)}`]

/** A deployment whose Pods crash, to its end. */
async function failedDeployment({ simulator, service, deploy }: World): Promise<TaskRecord> {
  simulator.control.overridePods('shop', { newPods: 'crashes', says })
  return service.waitForEnd(await deploy('shop', 'v2'))
}

const recordOf = async ({ service }: World, path: string, headers: Record<string, string> = {}) =>
  service.request(path, { headers })

describe('POD_LOG_LINES=2, with a token that may read logs (decision 0007)', () => {
  let world: World
  let task: TaskRecord
  beforeAll(async () => {
    world = await startWorld({ settings, mayReadLogs: true })
    task = await failedDeployment(world)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('a caller with a credential is shown the last lines of the Pod to blame, redacted and cut', async () => {
    for (const wait of ['', '?wait=1']) {
      const { body } = await recordOf(world, `/api/v1/tasks/${task.id}${wait}`, withToken)
      expect(body).toMatchObject({
        cause: 'crash_loop',
        pod_log: {
          pod: expect.stringMatching(/^shop-/),
          lines: ['connecting with <redacted>', `fatal: ${'x'.repeat(293)}`],
        },
      })
    }
  })

  test.for([
    { name: 'no credential', headers: {} },
    { name: 'a wrong one', headers: { 'Watcher-Deploy-Token': 'wrong' } },
    { name: 'a good and a wrong one', headers: { ...withToken, Authorization: 'Bearer a.b.c' } },
  ])('a caller with $name reads the task as ever, without them', async ({ headers }) => {
    const { status, body } = await recordOf(world, `/api/v1/tasks/${task.id}`, headers as Record<string, string>)
    expect(status).toBe(200)
    expect(body).toEqual(task)
    expect(JSON.stringify(body)).not.toContain('fatal')
  })

  test('they stand in no list, no timeline and no log of the service', async () => {
    for (const path of ['/api/v1/tasks', `/api/v1/tasks/${task.id}/events`, '/api/v1/events'])
      expect(JSON.stringify((await recordOf(world, path, withToken)).body), path).not.toContain('fatal: x')
    expect(world.service.logs()).not.toContain('fatal: x')
  })
})

test('a token that may not read logs gives the same report without them (decision 0007)', async () => {
  await using world = await startWorld({ settings, mayReadLogs: 'refused' })
  const task = await failedDeployment(world)
  expect(task).toMatchObject({ status: 'failed', cause: 'crash_loop', status_reason: expect.stringContaining('shop-') })
  const { body } = await recordOf(world, `/api/v1/tasks/${task.id}`, withToken)
  expect(body).toEqual(task)
  const { simulator } = world
  expect(simulator.control.callLog().filter(({ kind }) => kind === 'logs').length).toBeGreaterThan(0)
})
