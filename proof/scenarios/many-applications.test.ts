import { expect, test } from 'vitest'
import { startWorld } from '../../test/support/world.ts'

test('fifty applications of one repository deployed at once are all deployed, with a commit each', async () => {
  const applications = Array.from({ length: 50 }, (_, index) => `app-${index}`)
  await using fifty = await startWorld({ applications })
  const ids = await Promise.all(applications.map((app) => fifty.deploy(app, 'v2')))
  const ended = await Promise.all(ids.map((id) => fifty.service.waitForEnd(id)))
  expect(ended.filter(({ status }) => status !== 'deployed')).toEqual([])
  expect(new Set(ended.map(({ commit }) => commit)).size).toBe(50)
  expect(await fifty.commits()).toHaveLength(50)
})

test('a hundred tasks on a hundred applications share one stream and stay within their budget of calls', async () => {
  const applications = Array.from({ length: 100 }, (_, index) => `app-${index}`)
  await using many = await startWorld({ applications })
  const ids = await Promise.all(applications.map((app) => many.announce(app, 'v1')))
  const ended = await Promise.all(ids.map((id) => many.service.waitForEnd(id)))
  expect(ended.filter(({ status }) => status !== 'deployed')).toEqual([])
  const calls = many.simulator.control.callLog()
  expect(calls.filter(({ kind }) => kind === 'stream')).toHaveLength(1)
  expect(calls.filter(({ kind }) => kind === 'list').length).toBeLessThanOrEqual(2)
  for (const { app, created } of ended) {
    // A task that takes longer is refreshed and read again, and that is counted apart.
    const own = calls.filter(({ application, atMs }) => application === app && atMs < created * 1_000 + 5_000)
    const refreshes = own.filter(({ kind }) => kind === 'refresh').length
    expect(refreshes).toBeLessThanOrEqual(1)
    expect(own.length - refreshes).toBeLessThanOrEqual(3)
  }
})
