import { expect, test } from 'vitest'
import { DeployLockDetails } from '../../contract/deploy-lock.ts'
import { aTask, startService } from '../support/service.ts'

const dayMs = 24 * 60 * 60 * 1000
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
/** Midnight in UTC, as a schedule has it: of today, or as many days later. */
const midnight = (later: number) => `${days[new Date(Date.now() + later * dayMs).getUTCDay()]} 00:00`

test('in a lockdown window every new task is refused, whoever sends it, and the end is known (spec 2.4, 8.2)', async () => {
  const lockdown = `${midnight(-1)} - ${midnight(2)}`
  const settings = { LOCKDOWN_SCHEDULE: lockdown, WATCHER_DEPLOY_TOKEN: 'token-of-this-test' }
  await using service = await startService({ settings })
  const details = DeployLockDetails.parse((await service.request('/api/v1/deploy-lock/details')).body)
  for (const token of ['token-of-this-test', 'wrong']) {
    const { status, body, headers } = await service.submitTask(aTask(), { WATCHER_DEPLOY_TOKEN: token })
    expect({ status, body }).toEqual({
      status: 406,
      body: { status: 'rejected', error: 'lockdown is active, deployments are not accepted' },
    })
    const end = Date.now() / 1000 + Number(headers.get('retry-after'))
    expect(Math.abs(end - Number(details.until))).toBeLessThan(10)
  }
  expect(details).toMatchObject({ active: true, source: 'schedule', reason: null, set_by: null })
  expect(Number(details.until) - Number(details.since)).toBe((3 * dayMs) / 1000)
  expect(Number(details.next_window?.from) - Number(details.since)).toBe((7 * dayMs) / 1000)
  expect(await service.request('/api/v1/deploy-lock')).toMatchObject({ status: 200, body: true })
  expect((await service.request('/api/v1/tasks')).body).toMatchObject({ total: 0 })
  expect((await service.request('/api/v1/config')).body).toMatchObject({ lockdown_schedule: lockdown })
})

test('outside of every window tasks are accepted, and the next window is known', async () => {
  await using service = await startService({ settings: { LOCKDOWN_SCHEDULE: `${midnight(2)} - ${midnight(3)}` } })
  expect(await service.submitTask()).toMatchObject({ status: 202 })
  expect(await service.request('/api/v1/deploy-lock')).toMatchObject({ status: 200, body: false })
  const details = DeployLockDetails.parse((await service.request('/api/v1/deploy-lock/details')).body)
  expect(details).toMatchObject({ active: false, source: null, since: null, until: null })
  expect(Number(details.next_window?.to) - Number(details.next_window?.from)).toBe(dayMs / 1000)
})
