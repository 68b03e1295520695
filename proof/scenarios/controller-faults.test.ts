import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { aTask, startService } from '../../test/support/service.ts'
import { settingsFor, startWorld, type World, withToken } from '../../test/support/world.ts'

const apps = Array.from({ length: 6 }, (_, index) => `app-${index}`)
const committed = (world: World, id: string) => world.service.waitForTask(id, ({ commit }) => commit !== undefined)

/** Seconds in which a task gets its commit also on a busy machine: nothing is begun in the last two of its time. */
const timeForCommit = 15

/** All are deployed, and all of it is true. */
async function expectAllDeployed(world: World, ids: readonly string[]) {
  const ended = await Promise.all(ids.map((id) => world.service.waitForEnd(id)))
  expect(ended.filter(({ status }) => status !== 'deployed')).toEqual([])
  for (const { app } of ended) {
    const truth = await world.simulator.control.truth(app)
    expect(truth).toMatchObject({ isRolledOut: true, runningImages: [`registry.example/${app}:v2`] })
  }
}

async function deployWithin(world: World, app: string, timeout: number): Promise<string> {
  const task = aTask({ app, images: [{ image: `registry.example/${app}`, tag: 'v2' }], timeout })
  return world.service.acceptTask(task, withToken)
}

describe.concurrent('faults of Argo CD in the middle of a rollout', () => {
  test('it is refused for some seconds: tasks go on afterwards, one whose time ends meanwhile is aborted', async ({
    expect,
  }) => {
    await using world = await startWorld({ applications: ['goes-on', 'too-short'] })
    const { faults } = world.simulator.controller
    faults.hangRefresh.add('argocd/goes-on').add('argocd/too-short')
    const goesOn = await world.deploy('goes-on', 'v2')
    const tooShort = await deployWithin(world, 'too-short', timeForCommit)
    await committed(world, goesOn)
    await committed(world, tooShort)
    world.simulator.argo.stopListening()
    world.simulator.argo.endStreams('reset')
    const aborted = await world.service.waitForEnd(tooShort)
    expect(aborted).toMatchObject({ status: 'aborted', cause: 'controller_unreachable' })
    expect(aborted.status_reason).toMatch(
      /Argo CD is unreachable: (?:ECONNREFUSED|UND_ERR_SOCKET).*Argo CD was unreachable for the last \d+s/s,
    )
    expect((await world.service.getTask(goesOn)).status).toBe('in progress')
    await world.simulator.argo.listenAgain()
    faults.hangRefresh.clear()
    await expectAllDeployed(world, [goesOn])
  })

  test('the stream is cut again and again, cleanly, in the middle of a line and by RST', async ({ expect }) => {
    await using world = await startWorld({ applications: apps, times: { podReady: [700, 1_200] } })
    const ids = await Promise.all(apps.map((app) => world.deploy(app, 'v2')))
    const connects = () => world.simulator.control.callLog().filter(({ kind }) => kind === 'stream').length
    for (const how of ['eof', 'mid-line', 'reset', 'unfinished'] as const) {
      const before = connects()
      await expect.poll(() => world.simulator.argo.openStreams()).toBe(1)
      world.simulator.argo.endStreams(how)
      await expect.poll(connects).toBeGreaterThan(before)
    }
    await expectAllDeployed(world, ids)
    const lines = world.service
      .logs()
      .split('\n')
      .filter((line) => line.includes('application stream ended'))
    expect(lines.length).toBeGreaterThanOrEqual(1)
    expect(lines.length).toBeLessThanOrEqual(4)
    expect(lines.every((line) => JSON.parse(line).level === 30)).toBe(true)
  })

  test('the token expires and is renewed in its file: no restart, and the verdict waits for direct reads', async ({
    expect,
  }) => {
    await using world = await startWorld()
    const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-token-'))
    try {
      const { control, argo } = world.simulator
      const file = path.join(folder, 'token')
      const policies = [{ action: 'get', object: '*/*' }]
      const first = control.addAccount('first', policies).token
      await writeFile(file, `${first}\n`)
      const { ARGO_TOKEN: _, ...settings } = settingsFor(world.simulator)
      await using service = await startService({ settings: { ...settings, ARGO_TOKEN_FILE: file } })
      world.simulator.controller.faults.hangRefresh.add('argocd/shop')
      const id = await service.acceptTask(aTask({ images: [{ image: 'registry.example/shop', tag: 'v2' }] }), withToken)
      await service.waitForTask(id, ({ commit }) => commit !== undefined)
      control.revoke(first)
      world.simulator.controller.faults.hangRefresh.clear()
      await expect.poll(async () => (await control.truth('shop'))?.isRolledOut).toBe(true)
      await service.waitForTask(id, ({ progress }) => progress?.includes('token rejected') === true)
      expect(JSON.stringify((await service.request('/healthz')).body)).toContain('token rejected')
      const callsBefore = argo.callLog().length
      await writeFile(file, `${control.addAccount('second', policies).token}\n`)
      const renewedMs = Date.now()
      expect(await service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
      expect(Date.now() - renewedMs).toBeLessThan(10_000)
      expect(argo.callLog().length - callsBefore).toBeLessThan(20)
      expect(service.logs()).not.toContain(first)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('no replica is alive while the time of a task passes: aborted once one is, unless a look shows it complete', async ({
    expect,
  }) => {
    await using world = await startWorld({ applications: ['shop', 'cart'] })
    world.simulator.controller.faults.hangRefresh.add('argocd/shop').add('argocd/cart')
    const shop = await deployWithin(world, 'shop', timeForCommit)
    const cart = await deployWithin(world, 'cart', timeForCommit)
    const { created } = await committed(world, cart)
    await committed(world, shop)
    await world.service.kill('SIGKILL')
    world.simulator.controller.faults.hangRefresh.delete('argocd/cart')
    await expect
      .poll(
        async () =>
          (await world.simulator.control.truth('cart'))?.isRolledOut &&
          Date.now() / 1_000 > created + timeForCommit + 1,
        { timeout: 30_000 },
      )
      .toBe(true)
    await world.service.restart()
    expect(await world.service.waitForEnd(cart)).toMatchObject({ status: 'deployed' })
    const task = await world.service.waitForEnd(shop)
    expect(task).toMatchObject({ status: 'aborted', cause: 'no_replica' })
    expect(task.status_reason).toContain('no replica watched it')
    expect(await world.commits()).toHaveLength(2)
  })
})
