import { describe, expect } from 'vitest'
import { causeOf } from '../../contract/causes.ts'
import { conditionNames } from '../../contract/conditions.ts'
import { Diagnosis } from '../../contract/diagnosis.ts'
import { TaskList, TaskRecord } from '../../contract/task.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications('diagnosis-waiting', 'diagnosis-ended', 'diagnosis-newer', 'diagnosis-stopped')
})

const hold = (app: string) =>
  world.simulator.control.overridePods(app, { newPods: 'never-ready', except: [`registry.example/${app}:v0`] })

const waitingForHealth = (id: string) =>
  world.service.waitForTask(id, ({ unmet_condition }) => unmet_condition === 'healthy')

const listed = async (app: string) => {
  const { body } = await world.service.request(`/api/v1/tasks?app=${app}`)
  return TaskList.parse(body).tasks
}

describe('the diagnosis of a task', () => {
  test('of one in progress names all nine conditions in the order of a rollout; a list names the first unmet only', async () => {
    hold('diagnosis-waiting')
    const id = await world.deploy('diagnosis-waiting', 'v2')
    const { diagnosis, progress } = await waitingForHealth(id)
    expect(diagnosis?.conditions.map(({ name }) => name)).toEqual(conditionNames)
    expect(diagnosis?.conditions.find(({ name }) => name === 'healthy')).toMatchObject({
      state: 'not_met',
      expected: 'Healthy',
      found: 'Progressing',
    })
    expect(progress).toContain('healthy: expected Healthy, found Progressing')
    const [inList] = await listed('diagnosis-waiting')
    expect(inList).toMatchObject({ id, unmet_condition: 'healthy' })
    expect(inList).not.toHaveProperty('diagnosis')
    const { diagnosis: later } = await world.service.waitForTask(id, (task) => task.diagnosis?.pods !== undefined)
    expect(later?.pods?.[0]).toEqual({
      namespace: expect.any(String),
      name: expect.stringMatching(/^diagnosis-waiting-/),
      image: 'registry.example/diagnosis-waiting:v2',
      ready: false,
      state: 'Running',
      restarts: 0,
    })
    expect(later?.pods?.filter(({ ready }) => ready).map(({ image }) => image)).toContain(
      'registry.example/diagnosis-waiting:v0',
    )
  })

  test('of one that failed says the same as its reason: cause, culprit and next steps of one table', async () => {
    world.simulator.control.overridePods('diagnosis-ended', {
      newPods: 'invalid-image-name',
      except: ['registry.example/diagnosis-ended:v0'],
    })
    const task = await world.service.waitForEnd(await world.deploy('diagnosis-ended', 'v2'))
    const { diagnosis, status_reason: reason = '' } = TaskRecord.parse(task)
    expect(task).toMatchObject({ status: 'failed', cause: 'image_name', unmet_condition: 'healthy' })
    expect(diagnosis).toMatchObject({
      cause: 'image_name',
      culprit: { kind: 'Pod', name: expect.stringMatching(/^diagnosis-ended-/) },
      impact: { old_pods_ready: 2, old_pods: 2 },
      next_steps: causeOf('image_name').nextSteps,
      links: [{ kind: 'application', url: task.app_url }],
    })
    expect(diagnosis).not.toHaveProperty('pods')
    expect(reason).toContain(diagnosis?.culprit?.name)
    expect(reason).toContain(diagnosis?.culprit?.message)
    expect(await listed('diagnosis-ended')).toEqual([expect.not.objectContaining({ diagnosis: expect.anything() })])
  })

  test('of a superseded one names the newer task', async () => {
    hold('diagnosis-newer')
    const older = await world.deploy('diagnosis-newer', 'v2')
    await waitingForHealth(older)
    const newer = await world.deploy('diagnosis-newer', 'v3')
    const task = await world.service.waitForEnd(older)
    expect(task).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    expect(Diagnosis.parse(task.diagnosis)).toMatchObject({ cause: 'superseded', superseded_by: { task: newer } })
  })

  test('of a cancelled one says that it was cancelled on request', async () => {
    hold('diagnosis-stopped')
    const id = await world.deploy('diagnosis-stopped', 'v2')
    await waitingForHealth(id)
    const { status, body } = await world.service.request(`/api/v1/tasks/${id}`, {
      method: 'DELETE',
      headers: withToken,
    })
    expect(status).toBe(200)
    const { diagnosis, ...task } = TaskRecord.parse(body)
    expect(task).toMatchObject({ status: 'cancelled', cause: 'cancelled', status_reason: 'Cancelled on request' })
    expect(diagnosis).toMatchObject({ cause: 'cancelled', cancelled_by: { kind: 'deploy_token' }, next_steps: [] })
    expect((await world.service.getTask(id)).diagnosis).toEqual(diagnosis)
  })
})
