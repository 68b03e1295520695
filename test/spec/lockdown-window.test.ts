import { afterAll, beforeAll, expect, test } from 'vitest'
import { DeployLockCalendar, DeployLockDetails } from '../../contract/deploy-lock.ts'
import { aTask } from '../support/service.ts'
import { deployToken, startWorld, type World } from '../support/world.ts'

const dayMs = 24 * 60 * 60 * 1000
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
/** Midnight in UTC, as a schedule has it: of today, or as many days later. */
const midnight = (later: number) => `${days[new Date(Date.now() + later * dayMs).getUTCDay()]} 00:00`
const lockdown = `${midnight(-1)} - ${midnight(2)}`
const path = '/api/v1/deploy-lock'
const nowSeconds = () => Date.now() / 1000

let world: World
beforeAll(async () => {
  world = await startWorld({ parts: ['provider'], settings: { LOCKDOWN_SCHEDULE: lockdown } })
})
afterAll(() => world[Symbol.asyncDispose]())

const detailsOf = async () => DeployLockDetails.parse((await world.service.request(`${path}/details`)).body)

test('in a lockdown window every new task is refused, whoever sends it, and the end is known (spec 2.4, 8.2)', async () => {
  const { service } = world
  const details = await detailsOf()
  for (const token of [deployToken, 'wrong']) {
    const { status, body, headers } = await service.submitTask(aTask(), { WATCHER_DEPLOY_TOKEN: token })
    expect({ status, body }).toEqual({
      status: 406,
      body: {
        status: 'rejected',
        error: 'lockdown is active, deployments are not accepted',
        code: 'locked',
        until: details.until,
      },
    })
    const end = nowSeconds() + Number(headers.get('retry-after'))
    expect(Math.abs(end - Number(details.until))).toBeLessThan(10)
  }
  expect(details).toMatchObject({ active: true, source: 'schedule', reason: null, set_by: null })
  expect(Number(details.until) - Number(details.since)).toBe((3 * dayMs) / 1000)
  expect(Number(details.next_window?.from) - Number(details.since)).toBe((7 * dayMs) / 1000)
  expect(await service.request(path)).toMatchObject({ status: 200, body: true })
  expect((await service.request('/api/v1/tasks')).body).toMatchObject({ total: 0 })
  expect((await service.request('/api/v1/config')).body).toMatchObject({ lockdown_schedule: lockdown })
})

test('a release opens it for a quarter of an hour, and setting the lock ends that', async () => {
  const { service, database, signedIn } = world
  const ada = await signedIn('ada')
  const change = async (method: string) => expect((await ada.change(service.url, path, method)).status).toBe(200)
  const window = await detailsOf()
  expect(window).toMatchObject({ active: true, source: 'schedule', set_by: null })
  await change('DELETE')
  const open = await detailsOf()
  expect(open).toMatchObject({ active: false, next_window: { to: window.until } })
  expect(open.override_until).toBe(open.next_window?.from)
  expect(window).toMatchObject({ override_until: null, schedule: { time_zone: 'UTC', windows: [lockdown] } })
  expect(Math.abs(Number(open.next_window?.from) - nowSeconds() - 900)).toBeLessThan(30)
  expect((await service.submitTask()).status).toBe(202)
  await change('POST')
  expect((await service.submitTask()).status).toBe(406)
  expect(await detailsOf()).toMatchObject({ source: 'manual', until: null })
  await change('DELETE')
  expect((await service.submitTask()).status).toBe(202)
  await database.query('UPDATE watcher.deploy_lock SET override_until = clock_timestamp()')
  expect((await service.submitTask()).status).toBe(406)
  expect(await detailsOf()).toEqual(window)
  const { body } = await service.request(`${path}/calendar?from=${nowSeconds() - 60}&to=${nowSeconds()}`)
  const [scheduled, opened, locked, again] = DeployLockCalendar.parse(body).intervals
  expect(scheduled).toMatchObject({ kind: 'scheduled', from: window.since, to: window.until })
  expect(opened).toMatchObject({ kind: 'opened', to: locked?.from, set_by: 'ada' })
  expect(locked).toMatchObject({ kind: 'manual', to: again?.from })
  expect(again).toMatchObject({ kind: 'opened', set_by: 'ada' })
  expect(Math.abs(Number(again?.to) - Number(again?.from) - 900)).toBeLessThan(1)
})
