import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDemo } from '../../simulator/demo.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { launchBrowser, openPage } from '../support/browser.ts'
import { aTask, startService, withoutLimits } from '../support/service.ts'
import { settingsFor, startWorld } from '../support/world.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser?.close())

test('a deployment is followed live, from the list to the verdict on its page (spec 1.6)', async () => {
  await using world = await startWorld({ times: { podReady: [3_000, 3_500] } })
  await using opened = await openPage(browser, world.service.url, '/tasks')
  const { page, complaints, outside } = opened
  await page.getByRole('heading', { name: 'Deployments' }).waitFor()
  const id = await world.deploy('shop', 'v2')
  await page.getByRole('link', { name: 'shop' }).click()
  await page.getByText('In progress').first().waitFor()
  expect(page.url()).toBe(`${world.service.url}/task/${id}`)
  await page.getByText('Deployed').first().waitFor()
  expect(await page.title()).toContain('shop')
  expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
})

test('more new deployments than the page keeps are counted as 200+', async () => {
  await using service = await startService({ settings: withoutLimits })
  await service.acceptTask(aTask())
  await using opened = await openPage(browser, service.url, '/tasks')
  const { page } = opened
  await page.getByRole('link', { name: 'shop' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await Promise.all(Array.from({ length: 3 }, (_, at) => service.acceptTask(aTask({ app: `first-${at}` }))))
  await page.getByRole('button', { name: '3 new deployments', exact: true }).waitFor()
  for (let round = 0; round < 20; round += 1)
    await Promise.all(Array.from({ length: 10 }, (_, at) => service.acceptTask(aTask({ app: `app-${round}-${at}` }))))
  await page.getByRole('button', { name: '200+ new deployments', exact: true }).waitFor()
  expect(await page.title()).toMatch(/^\(200\+\) Deployments/)
})

test('the command of the page without tasks works in the demo as it is pasted', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-pasted-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const simulator = stack.use(await startSimulator({ folder, times: fastTimes }))
  await startDemo(simulator)
  const service = stack.use(await startService({ settings: settingsFor(simulator) }))
  const { page } = stack.use(await openPage(browser, service.url, '/tasks'))
  const command = await page.locator('code.code-block').innerText()
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command])
  expect(JSON.parse(stdout)).toMatchObject({ app: 'shop', status: 'deployed' })
  await page.getByRole('link', { name: 'shop' }).waitFor()
})

test('the API page renders every operation without external requests and errors (T32; spec 1.6)', async () => {
  await using world = await startWorld()
  await using opened = await openPage(browser, world.service.url, '/swagger/index.html')
  const { page, complaints, outside } = opened
  const operation = page.locator('#operations-tasks-getTask')
  await operation.waitFor()
  await operation.click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByPlaceholder('id').fill(await world.announce('shop', 'v1'))
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.getByText('"author": "ada"').first().waitFor()
  expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
})
