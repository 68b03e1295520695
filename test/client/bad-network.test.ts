import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { seededRandom } from '../../simulator/model/random.ts'
import { startBadProxy } from '../support/bad-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { runClient, startClient } from '../support/run-client.ts'
import { deployToken, startWorld, type World, withToken } from '../support/world.ts'

const applications = ['shop', 'payments', 'stuck', 'slow', 'kept']
let world: World
beforeAll(async () => {
  world = await startWorld({
    parts: ['argo cd', 'provider', 'lines'],
    applications,
    settings: { IDP_REQUIRE_READ_AUTH: 'true', BAD_POD_GRACE: '1s', STREAMS_PER_CLIENT: '1', WAITS_PER_CLIENT: '1' },
  })
  const hold = (app: string, newPods: 'image-pull-error' | 'held') =>
    world.simulator.control.overridePods(app, { newPods, except: [`registry.example/${app}:v0`] })
  hold('payments', 'image-pull-error')
  hold('stuck', 'held')
  hold('slow', 'held')
  hold('kept', 'held')
})
afterAll(() => world[Symbol.asyncDispose]())

const deploy = (app: string, tag: string) => ['deploy', '--app', app, '--image', `registry.example/${app}:${tag}`]
const variables = (url = world.service.url) => ({ WATCHER_URL: url, WATCHER_TOKEN: deployToken })
const countOf = async (app: string, tag: string) => {
  const { body } = await world.service.request(`/api/v1/tasks?app=${app}&search=${tag}`, { headers: withToken })
  return (body as { total: number }).total
}

describe('a client behind a bad proxy tells the truth, and submits once', () => {
  test.for([
    ['502 in place of every second answer', { badAnswers: 0.5 }],
    ['connections cut after 0.3 s', { badAnswers: 0, cutAfterMs: 300 }],
  ] as const)('%s', async ([name, faults]) => {
    await using proxy = await startBadProxy({ target: world.service.url, random: seededRandom(7), ...faults })
    const tag = `v-${name.slice(0, 3)}`
    const [well, broken] = await Promise.all([
      runClient(deploy('shop', tag), variables(proxy.url)),
      runClient(deploy('payments', tag), variables(proxy.url)),
    ])
    expect([well.code, broken.code]).toEqual([exitCodes.deployed, exitCodes.failed])
    expect(proxy.counts.badAnswers + proxy.counts.cuts).toBeGreaterThan(0)
    expect([await countOf('shop', tag), await countOf('payments', tag)]).toEqual([1, 1])
  })
})

test('a restart is waited for, also without a stream or a wait left, and before the application exists', async () => {
  const clients = ['shop', 'payments', 'stuck'].map((app) => startClient(deploy(app, 'v-restart'), variables()))
  const early = startClient([...deploy('preview', 'v-restart'), '--wait-for-app', '2m'], variables())
  await eventually(async () => expect(await countOf('preview', 'v-restart')).toBe(1))
  await eventually(async () => expect(await countOf('stuck', 'v-restart')).toBe(1))
  await world.service.kill('SIGKILL')
  await world.service.restart()
  world.simulator.control.releasePods('stuck')
  await world.addApplications('preview')
  const ends = await Promise.all([...clients, early].map(({ ended }) => ended))
  expect(ends.map(({ code }) => code)).toEqual([
    exitCodes.deployed,
    exitCodes.failed,
    exitCodes.deployed,
    exitCodes.deployed,
  ])
})

test('an absent database is waited for, before a submission and before a verdict', async () => {
  const { database } = world.service.lines
  const waiting = startClient(deploy('slow', 'v-database'), variables())
  await eventually(() => expect(waiting.stdout()).toContain('committed'))
  database.mood = 'refuse'
  database.cut()
  const submitting = startClient(deploy('shop', 'v-database'), variables())
  await eventually(() => expect(submitting.stdout()).toContain('the database does not answer'))
  database.mood = 'well'
  world.simulator.control.releasePods('slow')
  const ends = await Promise.all([waiting.ended, submitting.ended])
  expect(ends.map(({ code }) => code)).toEqual([exitCodes.deployed, exitCodes.deployed])
  expect([await countOf('slow', 'v-database'), await countOf('shop', 'v-database')]).toEqual([1, 1])
})

test('a credential that is refused while it waits is told at once', async () => {
  await using proxy = await startBadProxy({ target: world.service.url, badAnswers: 0, random: seededRandom(7) })
  const client = startClient(deploy('kept', 'v-refused'), variables(proxy.url))
  await eventually(() => expect(client.stdout()).toContain('committed'))
  proxy.dropCredentials()
  expect(await client.ended).toMatchObject({
    code: exitCodes.not_authorized,
    stdout: expect.stringContaining('kept cannot be followed: no credential was given'),
  })
})
