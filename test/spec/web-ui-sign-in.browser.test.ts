import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import { findViolations } from '../support/find-violations.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
  world = await startWorld({ parts: ['provider'] })
  world.idp.users.set('ada', { preferred_username: 'ada', groups: ['oncall'] })
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

const open = (path: string, url = world.service.url) => openPage(browser, url, path)

/** The form of the identity provider, as it comes. */
async function fillIn(page: Page, user = 'ada') {
  await page.locator('input[name="login"]').fill(user)
  await page.locator('input[name="password"]').fill('any')
  await page.locator('button[type="submit"]').click()
}

test('signing in leads back to where one was, signing out through the provider to the first page (spec 3)', async () => {
  await using opened = await open('/lock?tz=Asia%2FKolkata#audit')
  const { page } = opened
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click()
  await fillIn(page)
  await page.waitForURL(`${world.service.url}/lock?tz=Asia%2FKolkata#audit`)
  await page.getByRole('button', { name: 'ada, account' }).click()
  const account = page.getByRole('dialog', { name: 'Account' })
  await account.getByText('oncall').waitFor()
  await page.keyboard.press('Escape')
  await account.waitFor({ state: 'hidden' })
  await page
    .locator('button:focus')
    .and(page.getByRole('button', { name: 'ada, account' }))
    .waitFor()
  await page.keyboard.press('Enter')
  await account.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(`${world.idp.issuer}/session/end**`)
  const cookies = await page.context().cookies(world.service.url)
  expect(cookies.filter(({ name }) => name.includes('watcher-session'))).toEqual([])
})

test('a session that ends while a page is open leaves the page, and says how to come back', async () => {
  await using opened = await open('/auth/login?return=%2Flock')
  const { page } = opened
  await fillIn(page)
  await page.getByLabel('Reason').fill('OPS-3')
  await world.database.query('DELETE FROM watcher.sessions')
  await page.getByRole('button', { name: 'Lock deployments' }).click({ force: true }) // it is off already where the page has noticed
  await page.getByText('Your session has ended.').waitFor()
  await page.getByText('Sign in to lock.').waitFor()
  await page.getByText('"reason":"OPS-3"').waitFor()
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await page.waitForURL(`${world.service.url}/lock`)
  await page.getByRole('button', { name: 'ada, account' }).waitFor()
})

test('with open reading an ended session is no closed reading, also where a part of the page needs a sign-in', async () => {
  await using opened = await open('/auth/login?return=%2Fsettings')
  const { page } = opened
  await fillIn(page)
  await page.getByRole('region', { name: 'Deploy tokens' }).getByText('No deploy token is valid now.').waitFor()
  await world.database.query('DELETE FROM watcher.sessions')
  for (const isHidden of [true, false])
    await page.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))`) // shown again, a page reads what it shows
  await page.getByText('You can still read everything. Sign in again to change something.').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
})

test('a page that asks who is signed in does not prolong the session', async () => {
  const bob = await world.signedIn('bob')
  await world.database.query("UPDATE watcher.sessions SET last_used = last_used - interval '2 hours'")
  const read = async () => (await bob.request(`${world.service.url}/api/v1/session`)).json()
  const { user } = (await read()) as { user: { expires: number } }
  expect(await read()).toMatchObject({ user: { expires: user.expires } })
})

describe('closed reading', () => {
  let closed: World
  beforeAll(async () => {
    closed = await startWorld({ parts: ['provider'], settings: { IDP_REQUIRE_READ_AUTH: 'true' } })
    closed.idp.users.set('ada', { preferred_username: 'ada', groups: ['oncall'] })
  })
  afterAll(() => closed?.[Symbol.asyncDispose]())

  test.for(['/', '/tasks', '/task/unknown', '/versions', '/history', '/lock', '/settings'])(
    'at %s shows a way in, and sends no read that would be rejected',
    async (path) => {
      const { url } = closed.service
      await using opened = await openPage(browser, url, path, { hasClock: true })
      const { page } = opened
      const inMain = page.getByRole('main').getByRole('link', { name: 'Sign in' }).first()
      await inMain.waitFor()
      await page.keyboard.press('/')
      await page.getByRole('dialog', { name: 'Find' }).getByRole('option').first().waitFor()
      const sessionReadAgain = page.waitForResponse(`${url}/api/v1/session`)
      await page.clock.fastForward(61_000) // what is read at intervals would be
      await sessionReadAgain
      expect(opened.complaints).toEqual([])
      expect(page.url()).toBe(url + path)
    },
  )

  test('reads nothing more once the session has ended, and keeps what it shows', async () => {
    const { url } = closed.service
    await using opened = await openPage(browser, url, '/auth/login?return=%2F', { hasClock: true })
    const { page } = opened
    await fillIn(page)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'No deployment yet', exact: true }).waitFor()
    await closed.database.query('DELETE FROM watcher.sessions')
    await page.clock.fastForward(31_000)
    await page.getByText('Your session has ended.').waitFor()
    const sent: string[] = [] // what was under way before may still be rejected
    page.on('request', (request) => sent.push(new URL(request.url()).pathname))
    for (let round = 0; round < 3; round += 1) {
      const sessionReadAgain = page.waitForResponse(`${url}/api/v1/session`)
      await page.clock.fastForward(31_000)
      await sessionReadAgain
    }
    expect(new Set(sent)).toEqual(new Set(['/api/v1/session']))
    await page.getByRole('heading', { name: 'No deployment yet', exact: true }).waitFor()
  })
})

describe('a sign-in that fails', () => {
  test('because the provider is away ends at a page that leads back', async () => {
    await using away = await startWorld({ parts: ['provider'] })
    await away.idp.stop()
    await using opened = await open('/lock', away.service.url)
    const { page } = opened
    await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'The identity provider is unavailable' }).waitFor()
    await page.getByRole('link', { name: '/lock' }).click()
    await page.getByRole('heading', { name: 'Deploy lock' }).waitFor()
  })

  test.for(['provider', 'expired', 'refused', 'plain-http', 'unheard-of'])(
    'for the reason %s ends at a page that shows only a path of its address',
    async (reason) => {
      const query = new URLSearchParams({ reason, back: `/tasks?app='"><b>&status=failed` })
      await using opened = await open(`/sign-in-error?${query}`)
      const { page } = opened
      await page.getByRole('heading', { level: 1 }).waitFor()
      const padding = await page.evaluate("getComputedStyle(document.querySelector('.btn-primary')).paddingInlineStart")
      expect(padding).not.toBe('0px')
      expect(await page.getByRole('main').locator('b').count()).toBe(0)
      const wanted = page.locator('dd a')
      expect(await wanted.getAttribute('href')).toBe(await wanted.textContent())
      expect(await findViolations(page)).toEqual([])
      expect(opened.complaints).toEqual([])
    },
  )
})
