import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
let browser: Browser
let evil: Server
beforeAll(async () => {
  world = await startWorld({ parts: ['provider'] })
  browser = await launchBrowser()
  evil = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<body>'))
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await browser.close()
  evil.close()
  await world[Symbol.asyncDispose]()
})

/** A page on which the user `ada` has signed in. */
async function signedInPage() {
  const cookies = (await world.signedIn('ada')).cookies(world.service.url)
  return openPage(browser, world.service.url, '/tasks', { cookies })
}

test('no token is in storage, a cookie or an address that a script can read (T29)', async () => {
  await using opened = await signedInPage()
  const { page } = opened
  const session = `fetch('/api/v1/session').then((answer) => answer.json())`
  expect(await page.evaluate(session)).toMatchObject({ user: { subject: 'ada' } })
  const readable = `[document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage), location.href]`
  expect(await page.evaluate(readable)).toEqual(['', '{}', '{}', `${world.service.url}/tasks`])
  expect(await page.evaluate(`indexedDB.databases().then((all) => all.length)`)).toBe(0)
  const headers = { accept: 'text/event-stream', origin: 'https://evil.example' }
  expect((await world.service.request('/api/v1/events', { headers })).status).toBe(403)
})

describe('a session cookie that is truncated, forged, expired or of another key is 401 (B37; in the browser)', () => {
  let closed: typeof world
  beforeAll(async () => {
    closed = await startWorld({ parts: ['provider'], settings: { IDP_REQUIRE_READ_AUTH: 'true' } })
    closed.idp.users.set('ada', { preferred_username: 'ada' })
  })
  afterAll(() => closed[Symbol.asyncDispose]())

  const sessionOf = async () =>
    (await closed.signedIn('ada')).cookies(closed.service.url).get('watcher-session') ?? 'none'
  const openWith = (session: string, path: string) =>
    openPage(browser, closed.service.url, path, { cookies: new Map([['watcher-session', session]]) })
  const signInOf = (page: Page) => page.getByRole('main').getByRole('link', { name: 'Sign in' })
  const noticeOf = (page: Page) => page.getByRole('region', { name: 'Notices' }).getByRole('link', { name: 'Sign in' })

  test.for<[string, () => Promise<string> | string]>([
    ['forged', () => 'a'.repeat(43)],
    [
      'expired',
      async () => {
        const id = await sessionOf()
        await closed.database.query("UPDATE watcher.sessions SET created = created - interval '24 hours'")
        return id
      },
    ],
  ])('%s: the page shows the sign-in, which leads back to it', async ([, make]) => {
    await using opened = await openWith(await make(), '/tasks?status=failed')
    const { page } = opened
    await signInOf(page).waitFor()
    await page.getByText('Signed out', { exact: true }).waitFor()
    expect(await signInOf(page).getAttribute('href')).toBe('/auth/login?return=%2Ftasks%3Fstatus%3Dfailed')
    await signInOf(page).click()
    await page.locator('input[name=login]').fill('ada')
    await page.locator('input[name=password]').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.waitForURL(`${closed.service.url}/tasks?status=failed`)
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await signInOf(page).count()).toBe(0)
  })

  test('one that ends while its page is open is told there, over what was read before', async () => {
    const submitted = await closed.service.submitTask(aTask({ app: 'seen-before' }))
    expect(submitted.status).toBe(202)
    await using opened = await openWith(await sessionOf(), '/tasks')
    const { page } = opened
    await page.getByText('seen-before').first().waitFor()
    expect(await noticeOf(page).count()).toBe(0)
    await closed.database.query('DELETE FROM watcher.sessions')
    await noticeOf(page).waitFor()
    expect(await page.getByText('seen-before').count()).toBeGreaterThan(0)
  })
})

describe('a page of another site submits no task (T30)', () => {
  const task = JSON.stringify(aTask({ app: 'cross-site' }))
  const form = (enctype: string) => `(() => {
    const form = Object.assign(document.createElement('form'), { method: 'POST', action: target, enctype: '${enctype}' })
    const field = Object.assign(document.createElement('input'), { name: task.slice(0, -1) + ',"a":"', value: '"}' })
    form.append(field)
    document.body.append(form)
    form.submit()
  })()`
  /** What a page of another site may try; each ends in a request of the real browser, or in none. */
  const shapes: [string, string][] = [
    ['a form whose text is JSON', form('text/plain')],
    ['a form', form('application/x-www-form-urlencoded')],
    ['a form with files', form('multipart/form-data')],
    ['a fetch without CORS', `fetch(target, { method: 'POST', mode: 'no-cors', credentials: 'include', body: task })`],
    [
      'a fetch of JSON with CORS',
      `fetch(target, { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: task })`,
    ],
    ['a beacon', `navigator.sendBeacon(target, new Blob([task], { type: 'text/plain' }))`],
    [
      'a frame without an origin',
      `(() => {
        const sent = { method: 'POST', mode: 'no-cors', body: task }
        const code = 'fetch(' + JSON.stringify(target) + ',' + JSON.stringify(sent) + ')'
        const frame = document.createElement('iframe')
        frame.sandbox = 'allow-scripts'
        frame.srcdoc = '<script>' + code + '<' + '/script>'
        document.body.append(frame)
      })()`,
    ],
  ]

  test.for(shapes)('%s', async ([, script]) => {
    const { port } = evil.address() as AddressInfo // listening on TCP, so not a pipe's path
    await using opened = await signedInPage()
    const page: Page = await opened.page.context().newPage()
    await page.goto(`http://localhost:${port}/`) // another site than 127.0.0.1
    const answered = page.waitForResponse((answer) => answer.url().startsWith(world.service.url), { timeout: 10_000 })
    const failed = page.waitForEvent('requestfailed', { timeout: 10_000 })
    const target = `${world.service.url}/api/v1/tasks`
    await page.evaluate(`{ const target = ${JSON.stringify(target)}, task = ${JSON.stringify(task)}; void ${script} }`)
    const outcome = await Promise.any([answered.then((answer) => answer.status()), failed.then(() => 'not sent')])
    await Promise.allSettled([answered, failed].map((one) => Promise.race([one, page.close()])))
    expect(['not sent', 403, 404, 405, 415]).toContain(outcome)
    expect((await world.service.request('/api/v1/tasks')).body).toMatchObject({ total: 0 })
  })
})
