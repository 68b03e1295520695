import { describe, test } from 'vitest'
import { startWorld, type World } from '../support/world.ts'

/** A List of all applications comes once a minute, give or take ten seconds. */
const foundMs = 70_000
const slackMs = 10_000

/** A rollout of shop:v2 that is synced and waits only for its Pods, which become ready when they are released. */
async function aHeldRollout({ simulator, service, deploy }: World): Promise<string> {
  simulator.control.overridePods('shop', { newPods: 'held', except: ['registry.example/shop:v0'] })
  const id = await deploy('shop', 'v2')
  await service.waitForTask(
    id,
    ({ progress }) => progress?.includes('healthy: expected Healthy, found Progressing') === true,
  )
  return id
}

const isHealthy = ({ simulator }: World) => simulator.control.application('shop')?.status.health.status === 'Healthy'

// They mostly wait.
describe.concurrent('events that do not arrive: the end of a rollout is found all the same (spec 1.3)', () => {
  test('those between the burst of a new stream and its subscription, by the List that follows', async ({ expect }) => {
    await using world = await startWorld()
    const { argo, control } = world.simulator
    const id = await aHeldRollout(world)
    argo.setBurstGap(450)
    argo.endStreams('reset')
    await expect.poll(() => argo.openStreams(), { interval: 2 }).toBe(1)
    control.releasePods('shop')
    await expect.poll(() => isHealthy(world), { interval: 2 }).toBe(true)
    expect(await world.service.waitForEnd(id, foundMs + slackMs)).toMatchObject({ status: 'deployed' })
  })

  test('those that a list of the API server itself put together into one', async ({ expect }) => {
    await using world = await startWorld()
    const { controller, control } = world.simulator
    const id = await aHeldRollout(world)
    for (const replica of controller.replicas) replica.hold()
    control.releasePods('shop')
    await expect.poll(() => isHealthy(world)).toBe(true)
    for (const replica of controller.replicas) replica.release('relist')
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
  })
})
