import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { seededRandom } from '../../simulator/model/random.ts'
import { startBadProxy } from '../../test/support/bad-proxy.ts'
import { runClient } from '../../test/support/run-client.ts'
import { deployToken, startWorld } from '../../test/support/world.ts'

const deploy = (app: string, tag: string) => ['deploy', '--app', app, '--image', `registry.example/${app}:${tag}`]
const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `app-${index}`)

test('200 deployments over 20 kills of the service, connections cut after 5 s, and 5 % of answers 502', async () => {
  const [applications, rounds, kills] = [namesOf(40), 5, 20]
  await using world = await startWorld({ applications, settings: { BAD_POD_GRACE: '2s' } })
  const broken = new Set(applications.filter((_, index) => index % 4 === 0))
  for (const app of broken)
    world.simulator.control.overridePods(app, { newPods: 'image-pull-error', except: [`registry.example/${app}:v0`] })
  await using proxy = await startBadProxy({
    target: world.service.url,
    badAnswers: 0.05,
    cutAfterMs: 5_000,
    random: seededRandom(1),
  })
  const variables = { WATCHER_URL: proxy.url, WATCHER_TOKEN: deployToken, CI: 'true' }
  let isOver = false
  const wrong: string[] = []
  const deployments = applications.map(async (app) => {
    for (let round = 1; round <= rounds; round += 1) {
      const { code, stdout } = await runClient(deploy(app, `v${round}`), variables)
      if (code !== (broken.has(app) ? exitCodes.failed : exitCodes.deployed)) wrong.push(`${code}:\n${stdout}`)
    }
  })
  let killed = 0
  const killer = (async () => {
    for (; killed < kills && !isOver; killed += 1) {
      await delay(2_000)
      await world.service.kill('SIGKILL')
      await world.service.restart()
    }
  })()
  await Promise.all(deployments)
  isOver = true
  await killer
  const [{ count = 0 } = {}] = await world.rows<{ count: number }>('SELECT count(*)::int AS count FROM watcher.tasks')
  console.log(
    `${killed} kills, ${proxy.counts.cuts} connections cut, ${proxy.counts.badAnswers} answers 502, ${count} tasks`,
  )
  expect(wrong).toEqual([])
  expect(count).toBe(applications.length * rounds)
  expect(killed).toBe(kills)
})

test('250 clients on one address: none fails for a limit of streams or waits', async () => {
  const applications = namesOf(250)
  await using world = await startWorld({ applications })
  const variables = { WATCHER_URL: world.service.url, WATCHER_TOKEN: deployToken, CI: 'true' }
  for (const app of applications)
    world.simulator.control.overridePods(app, { newPods: 'held', except: [`registry.example/${app}:v0`] })
  const clients = applications.map(async (app, index) => {
    await delay(index * 50) // two processors start no 250 processes at once
    return runClient(deploy(app, 'v1'), variables)
  })
  await expect
    .poll(async () => (await world.service.request('/api/v1/tasks?status=in%20progress&limit=1')).body, {
      timeout: 600_000, // on a busy machine the start of 250 processes takes minutes
    })
    .toMatchObject({ total: 250 })
  for (const app of applications) world.simulator.control.releasePods(app)
  const ends = await Promise.all(clients)
  expect(ends.filter(({ code }) => code !== exitCodes.deployed)).toEqual([])
})
