import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import { createTestDatabase } from '../support/database.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { aTask, type Service, startService } from '../support/service.ts'
import { startWorld } from '../support/world.ts'

let browser: Browser
let service: Service
beforeAll(async () => {
  browser = await launchBrowser()
  service = await startService({ settings: { STREAMS_PER_CLIENT: '20' } })
})
afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
})

/** Counts the lists that a page reads from now on. */
function countReads(page: Page) {
  const reads = { lists: 0 }
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/tasks?')) reads.lists += 1
  })
  return reads
}

/** Hides a page or shows it again, as a change of tab does. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
    document.dispatchEvent(new Event('visibilitychange'))`)

const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor()
const cancelled = (page: Page) => page.locator('tbody .st, .title .st').getByText('Cancelled', { exact: true })
const inProgress = (page: Page) => page.locator('tbody .st, .title .st').getByText('In progress', { exact: true })
const submit = (to: Service, app: string, tag = 'v1') =>
  to.acceptTask(aTask({ app, images: [{ image: `registry.example/${app}`, tag }] }))

test('a status change is shown on list and task page without a read of the list (spec 1.6)', async () => {
  const id = await submit(service, 'followed')
  await using list = await openPage(browser, service.url, '/tasks?app=followed')
  await using one = await openPage(browser, service.url, `/task/${id}`)
  for (const { page } of [list, one]) {
    await live(page)
    await inProgress(page).waitFor()
  }
  const reads = countReads(list.page)
  await submit(service, 'followed', 'v2')
  for (const { page } of [list, one]) await cancelled(page).waitFor()
  await list.page.getByRole('button', { name: '1 new deployment' }).waitFor()
  expect(reads.lists).toBe(0)
})

test('ten open tabs work over HTTP/1.1: a hidden one holds no connection and reads again when it is shown', async () => {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })
  const app = 'ten-tabs'
  await submit(service, app)
  const pages: Page[] = []
  for (let tab = 0; tab < 10; tab += 1) {
    for (const page of pages) await setHidden(page, true)
    const page = await context.newPage()
    await page.goto(`${service.url}/tasks?app=${app}`)
    await live(page)
    pages.push(page)
  }
  await submit(service, app, 'v2')
  const [first, last] = [pages[0], pages.at(-1)]
  if (!first || !last) throw new Error('there are ten')
  await cancelled(last).waitFor()
  expect(await cancelled(first).count()).toBe(0)
  await setHidden(last, true)
  await setHidden(first, false)
  await live(first)
  await cancelled(first).waitFor()
  await context.close()
})

// They mostly wait.
describe.concurrent('an outage', () => {
  test('after a cut the page says so, reads every 15 s, and is live again without a reload', async ({ expect }) => {
    await using line = await startFaultProxy({ port: Number(new URL(service.url).port) })
    const url = `http://127.0.0.1:${line.port}`
    await submit(service, 'cut')
    await using opened = await openPage(browser, url, '/tasks?app=cut')
    const { page } = opened
    await live(page)
    await inProgress(page).waitFor()
    line.mood = 'refuse'
    line.cut()
    await page.getByText(/^Not live since/).waitFor()
    await page.getByText(/reading every 15\ss until then/).waitFor()
    await submit(service, 'cut', 'v2')
    await page
      .getByText(/^What you see is|^\d+\ss old$/)
      .first()
      .waitFor()
    line.mood = 'well'
    await page.getByRole('button', { name: 'Try now' }).click()
    await cancelled(page).waitFor()
    await live(page)
    expect(await page.getByText(/^Not live since/).count()).toBe(0)
  })

  test('with too many streams a page reads every 15 s instead', async () => {
    await using limited = await startService({ settings: { STREAMS_PER_CLIENT: '1' } })
    await submit(limited, 'crowded')
    await using first = await openPage(browser, limited.url, '/tasks')
    await live(first.page)
    await using second = await openPage(browser, limited.url, '/tasks')
    const { page } = second
    await page.getByText(/^Not live since/).waitFor()
    await inProgress(page).waitFor()
    await submit(limited, 'crowded', 'v2')
    await cancelled(page).waitFor({ timeout: 20_000 })
    await first[Symbol.asyncDispose]()
    await live(page)
  })

  test('a connection that says nothing for 20 s is noticed', async () => {
    await using line = await startFaultProxy({ port: Number(new URL(service.url).port) })
    await using opened = await openPage(browser, `http://127.0.0.1:${line.port}`, '/tasks')
    await live(opened.page)
    const again = opened.page.waitForResponse(/\/api\/v1\/events/)
    line.strand()
    await again
    await live(opened.page)
  })

  test('a read that failed while the stream stays open is repeated', async () => {
    await using opened = await openPage(browser, service.url, '/tasks')
    const { page } = opened
    await live(page)
    await page.route('**/deploy-lock/calendar?*', (route) => route.fulfill({ status: 503, json: { error: 'away' } }), {
      times: 1,
    })
    await page.getByRole('link', { name: 'Lock' }).click()
    await page.getByText(/could not be read/).waitFor()
    await page.getByText(/could not be read/).waitFor({ state: 'hidden' })
    await live(page)
  })

  test('Argo CD that does not answer is said with its time and who waits', async () => {
    await using database = await createTestDatabase()
    await using replicas = await startWorld({ parts: ['argo cd', 'lines'], databaseUrl: database.url })
    const [replica] = replicas.running
    if (!replica) throw new Error('there is one')
    await submit(replica, 'shop', 'never')
    await using opened = await openPage(browser, replica.url, '/tasks')
    const { page } = opened
    await live(page)
    replica.lines.controller.mood = 'refuse'
    replica.lines.controller.cut()
    await page.getByText(/^Argo CD has not answered since \d\d:\d\d:\d\d/).waitFor()
    await page.getByText('1 deployment waits for it.').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).click()
    await page
      .getByRole('region', { name: 'Argo CD' })
      .getByText(/\. Connection (refused|reset|closed)\.$/)
      .waitFor() // the code of the error is not said beside its words
    replica.lines.controller.mood = 'well'
    await page.getByText(/^Argo CD has not answered/).waitFor({ state: 'hidden' })
  })

  test('a database that does not answer is noticed, though the stream stays open', async () => {
    await using database = await createTestDatabase()
    await using replicas = await startWorld({ parts: ['argo cd', 'lines'], databaseUrl: database.url })
    const [replica] = replicas.running
    if (!replica) throw new Error('there is one')
    await submit(replica, 'shop', 'never')
    await using opened = await openPage(browser, replica.url, '/tasks')
    const { page } = opened
    await live(page)
    await inProgress(page).waitFor() // a page that has read nothing yet has nothing to call old
    replica.lines.database.mood = 'refuse'
    replica.lines.database.cut()
    await page.getByText(/^Not live since/).waitFor()
    replica.lines.database.mood = 'well'
    await live(page)
  })
})

test('an address that asks for an unknown status or date names it and offers to clear it', async () => {
  await submit(service, 'addressed')
  await using opened = await openPage(browser, service.url, '/tasks?status=brokn&app=addressed&from_timestamp=today')
  const { page, complaints } = opened
  await page.getByText('status=brokn').waitFor()
  await page.getByText('from_timestamp=today').waitFor()
  await page.getByRole('rowheader', { name: 'addressed' }).waitFor()
  await page.getByRole('link', { name: 'Clear it' }).click()
  await page.waitForURL('**/tasks?app=addressed')
  expect(await page.getByText('status=brokn').count()).toBe(0)
  expect(complaints).toEqual([])
})
