import { describe, expect } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { test } from '../support/shared-world.ts'
import { deployToken, type World, withToken } from '../support/world.ts'

const says = ['not shown', `connecting with ${deployToken}`, `fatal: ${'x'.repeat(400)}`]

/** A deployment whose Pods crash, to its end. */
async function failedDeployment({ simulator, service, deploy }: World): Promise<TaskRecord> {
  simulator.control.overridePods('pod-log', { newPods: 'crashes', says, except: ['registry.example/pod-log:v0'] })
  return service.waitForEnd(await deploy('pod-log', 'v2'))
}

const recordOf = async ({ service }: World, path: string, headers: Record<string, string> = {}) =>
  service.request(path, { headers })

describe('POD_LOG_LINES=2, with a token that may read logs (decision 0007)', () => {
  let world: World
  let task: TaskRecord
  test.beforeAll(async ({ world: shared }) => {
    world = shared
    await world.addApplications('pod-log')
    task = await failedDeployment(world)
  })

  test('a caller with a credential is shown the last lines of the Pod to blame, redacted and cut', async () => {
    for (const wait of ['', '?wait=1']) {
      const { body } = await recordOf(world, `/api/v1/tasks/${task.id}${wait}`, withToken)
      expect(body).toMatchObject({
        cause: 'crash_loop',
        pod_log: {
          pod: expect.stringMatching(/^pod-log-/),
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
