import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, type OpenOptions, openPage } from '../support/browser.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import { type Service, startService } from '../support/service.ts'
import { startWorld, type World } from '../support/world.ts'

const path = '/api/v1/deploy-lock'
let world: World
let replica: Service
let browser: Browser
let ada: HttpBrowser
beforeAll(async () => {
  browser = await launchBrowser()
  world = await startWorld({ parts: ['provider'], settings: { IDP_PRIVILEGED_GROUPS: 'oncall' } })
  replica = await world.startReplica()
  ada = await world.signedIn('ada', ['oncall'])
})
afterAll(async () => {
  await browser?.close()
  await replica?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})
afterEach(() => ada.change(world.service.url, path, 'DELETE'))

/** A page that one sees signed in as the other browser is. */
function open(pathname: string, as?: HttpBrowser, service: Service = world.service, options?: OpenOptions) {
  return openPage(browser, service.url, pathname, { ...options, cookies: as?.cookies(world.service.url) })
}

const theSwitch = (page: Page) => page.getByRole('button', { name: /^(Lock deployments|Release the lock)$/ })
const banner = (page: Page) => page.getByText(/^Deployments are locked/)
const toast = (page: Page, words: string) => page.getByRole('status').filter({ hasText: words })
const detailsOf = async () => (await world.service.request(`${path}/details`)).body
const lockWith = (body: object) => ada.change(world.service.url, path, 'POST', body)

describe('the deploy lock (spec 2.4)', () => {
  test('is set by its button, shown on every open page of any replica, and undone', async () => {
    await using elsewhere = await open('/tasks', undefined, replica)
    await elsewhere.page.getByText('Live', { exact: true }).waitFor()
    await using opened = await open('/lock', ada)
    const { page, complaints, outside } = opened
    await page.getByText('Enter a reason first.').waitFor()
    expect(await theSwitch(page).getAttribute('aria-disabled')).toBe('true')
    await theSwitch(page).click({ force: true }) // it is dashed, and leads to what is missing
    await page.locator('input:focus').fill("failover <b>OPS-2214</b> 'now'")
    await theSwitch(page).click()
    await toast(page, 'All deployments are locked.').waitFor()
    await banner(elsewhere.page).waitFor({ timeout: 10_000 }) // without the stream it is read every 15 s
    await elsewhere.page.getByText(/by ada: failover <b>OPS-2214<\/b> 'now'\.$/).waitFor()
    expect(await detailsOf()).toMatchObject({ active: true, reason: "failover <b>OPS-2214</b> 'now'", set_by: 'ada' })
    await elsewhere.page.getByRole('link', { name: 'Lock, deployments are locked' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Locked' }).getByText('ada').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await toast(page, 'The lock is released again.').waitFor()
    expect(await detailsOf()).toMatchObject({ active: false })
    await banner(elsewhere.page).waitFor({ state: 'detached', timeout: 10_000 })
    expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
  })

  test('is released from the banner of any page, and Undo locks as before', async () => {
    const until = Math.ceil(Date.now() / 1000) + 3_600
    await lockWith({ reason: 'OPS-1', until })
    await using opened = await open('/tasks', ada)
    const { page } = opened
    await page.getByRole('button', { name: 'Release' }).click()
    await toast(page, 'Deployments are open again.').waitFor()
    await banner(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await banner(page).waitFor()
    expect(await detailsOf()).toMatchObject({ active: true, reason: 'OPS-1', until })
  })

  test('is not set by what the service rejects: its words stand beside the field, and what was typed stays', async () => {
    await using opened = await open('/lock?tz=UTC', ada)
    const { page } = opened
    const [reason, time] = [page.getByLabel('Reason'), page.getByLabel('Date and time in UTC')]
    await reason.fill('x'.repeat(501))
    await theSwitch(page).click()
    await expect.poll(() => reason.getAttribute('aria-invalid')).toBe('true')
    const words = await page.locator(`[id="${await reason.getAttribute('aria-describedby')}"]`).textContent()
    expect(words).toContain('must be at most 500 characters')
    expect(await reason.inputValue()).toHaveLength(501)
    await reason.fill('OPS-2')
    expect(await reason.getAttribute('aria-invalid')).toBe('true') // it is about what was sent
    await page.getByLabel('At a time').press('Space')
    await time.fill('2020-01-01T10:00')
    await theSwitch(page).click()
    await page.getByText('until: must be in the future').waitFor()
    expect(await time.getAttribute('aria-invalid')).toBe('true')
    expect([await reason.inputValue(), await time.inputValue()]).toEqual(['OPS-2', '2020-01-01T10:00'])
    expect(await detailsOf()).toMatchObject({ active: false })
  })

  test('is not changed while the browser is offline, and not later either', async () => {
    await using opened = await open('/lock', ada)
    const { page } = opened
    await page.getByLabel('Reason').fill('OPS-4')
    await page.context().setOffline(true)
    await theSwitch(page).click()
    await page.getByText('Not changed: the service did not answer').waitFor()
    await page.context().setOffline(false)
    await page.evaluate("fetch('/api/v1/session')")
    expect(await detailsOf()).toMatchObject({ active: false })
  })

  test('has a week and next changes only once its calendar is read', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    const answer = Promise.withResolvers<void>()
    await page.route('**/api/v1/deploy-lock/calendar?*', async (route) => {
      await answer.promise
      await route.fulfill({ status: 503, json: { error: 'away' } })
    })
    await page.goto(`${world.service.url}/lock`)
    await page.getByRole('group', { name: 'Loading the week' }).waitFor()
    expect(await page.getByText(/^None within/).count()).toBe(0)
    answer.resolve()
    await page.getByRole('heading', { name: 'The week could not be read' }).waitFor()
    expect(await page.getByText(/^None within|: open/).count()).toBe(0)
    await page.unroute('**/api/v1/deploy-lock/calendar?*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('img', { name: /^This week in UTC/ }).waitFor()
    await page.getByText(/^None within/).waitFor()
  })

  test('is opened for 15 minutes inside a lockdown window', async () => {
    await using scheduled = await startWorld({
      parts: ['provider'],
      settings: {
        LOCKDOWN_SCHEDULE: 'Mon 00:00 - Thu 00:00, Thu 00:00 - Mon 00:00',
      },
    })
    const bob = await scheduled.signedIn('bob')
    const cookies = bob.cookies(scheduled.service.url)
    await using opened = await openPage(browser, scheduled.service.url, '/lock', { cookies })
    const { page } = opened
    await page.getByRole('button', { name: 'Open for 15 minutes' }).waitFor()
    await page.getByRole('button', { name: 'Open for 15 minutes' }).click()
    await page.getByText('inside a lockdown window, until').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('by bob since').waitFor()
    await page.getByRole('button', { name: 'Open for 15 minutes' }).waitFor() // a manual lock now, still inside the window
  })

  test('is dashed for those who may not, with the reason and the command', async () => {
    await using withoutProvider = await startService()
    const bob = await world.signedIn('bob', ['shop'])
    for (const [service, who, why, command] of [
      [world.service, undefined, 'Sign in to lock.', 'curl'],
      [world.service, bob, 'Only members of oncall may lock. Your groups: shop.', 'curl'],
      [withoutProvider, undefined, 'Locking by hand needs sign-in.', 'LOCKDOWN_SCHEDULE='],
    ] as const) {
      await using opened = await open('/lock', who, service)
      const { page } = opened
      await page.getByText(why).first().waitFor()
      expect(await theSwitch(page).getAttribute('aria-disabled')).toBe('true')
      const described = await theSwitch(page).getAttribute('aria-describedby')
      expect(await page.locator(`[id="${described}"]`).textContent()).toContain(why)
      expect(await page.locator('form, .form').locator('code.code-block').textContent()).toContain(command)
    }
    expect(await detailsOf()).toMatchObject({ active: false })
  })

  test('is shown in the zone of the device or in the one chosen, which it keeps; an unknown one in the address is named and can be cleared', async () => {
    await using opened = await open('/lock?tz=Mars/Olympus', undefined, world.service, { timeZone: 'America/New_York' })
    const { page } = opened
    await page.getByText('tz=Mars/Olympus').waitFor()
    await page.getByRole('link', { name: 'Clear it' }).click()
    await page.getByText('tz=Mars/Olympus').waitFor({ state: 'detached' })
    await page.getByRole('img', { name: /^This week in America\/New_York/ }).waitFor()
    await page.goto(`${world.service.url}/lock?tz=Asia/Tokyo`)
    await page.getByRole('img', { name: /^This week in Asia\/Tokyo/ }).waitFor()
    await page.getByLabel('Time zone').selectOption('UTC')
    await page.getByRole('img', { name: /^This week in UTC/ }).waitFor()
    expect(page.url()).toBe(`${world.service.url}/lock`)
    await page.reload()
    await page.getByRole('img', { name: /^This week in UTC/ }).waitFor()
  })
})
