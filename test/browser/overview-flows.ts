import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { causes } from '../../contract/causes.ts'
import { withToken } from '../support/world.ts'
import type { Flow } from './flows.ts'

const section = (page: Page, name: string) => page.getByRole('region', { name })
/** A tag that no other run of a flow has. */
const newTag = () => `v-${randomUUID().slice(0, 8)}`
/** The file of an application's parameters, as another author commits it. */
const overrideOf = (tag: string) => `helm: { parameters: [{ name: image.tag, value: ${tag}, forceString: true }] }\n`
const addressOf = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search

/** Requires that the tab has the gate mark in a colour of the tokens. */
async function requireFavicon(page: Page, token: string): Promise<void> {
  const wanted = await page.evaluate<string>(`{
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = 'var(${token})'
    const { color } = getComputedStyle(probe)
    probe.remove()
    color
  }`)
  const icon = page.locator('link[rel="icon"]')
  await expect.poll(async () => decodeURIComponent((await icon.getAttribute('href')) ?? '')).toContain(`"${wanted}"`)
}

/** A browser that notes its notifications, and grants them when asked. */
const notingNotifications = `
  window.notified = []
  window.Notification = class {
    static requestPermission = () => Promise.resolve('granted')
    constructor(title) { window.notified.push(title) }
  }`

/** Adds up what moved without the reader's doing, as browsers count it. */
const shiftsOfLayout = `
  window.layoutShift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value
  }).observe({ type: 'layout-shift', buffered: true })`

const rollouts = Array.from({ length: 20 }, (_, at) => ({
  id: `roll-${at}`,
  app: `service-${at}`,
  created: Date.now() / 1000 - 3_480,
  updated: Date.now() / 1000,
  author: 'ada',
  project: 'shop',
  images: [{ image: 'registry.example/shop', tag: 'v2' }],
  status: 'in progress',
  unmet_condition: 'healthy',
}))
const pods = [true, false].map((ready) => ({
  namespace: 'shop',
  name: `shop-${ready}`,
  image: 'registry.example/shop:v2',
  ready,
  state: 'Running',
  restarts: 0,
}))

/** What somebody does on the overview, the history and the settings, and with Find. */
export const overviewFlows: readonly Flow[] = [
  {
    name: 'a failure enters the overview by itself and leaves it with a later deployment',
    isInNpmTest: true,
    async run({ world, open, look }) {
      const [bad, good] = [newTag(), newTag()]
      world.hold('inventory', 'crashes', 'v0', good)
      await using opened = await open('/')
      const { page } = opened
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByRole('heading', { level: 1, name: /attention/ }).waitFor()
      const alarm = section(page, 'Needs attention').getByRole('listitem').filter({ hasText: 'inventory' })
      await alarm.waitFor({ state: 'detached' })
      await world.deploy('inventory', bad)
      await section(page, 'Rolling out now').getByText(bad).waitFor()
      await alarm.getByText(/crashes on start/).waitFor()
      await section(page, 'Rolling out now').getByText(bad).waitFor({ state: 'detached' })
      expect(await page.title()).toMatch(/^✕ \d+ · Overview · Deployment Watcher$/)
      await requireFavicon(page, '--failed-mark')
      await look(opened)
      await alarm.getByText(/still serves\.$/).waitFor()
      await alarm.hover()
      await alarm.getByRole('link', { name: 'Argo CD' }).waitFor({ state: 'attached' })
      await page.mouse.move(0, 0)
      const later = await world.deploy('inventory', good)
      await section(page, 'Rolling out now').getByText(`after a failed ${bad}`).waitFor()
      expect(await alarm.count()).toBe(0) // while it rolls out
      await alarm.waitFor({ state: 'detached' })
      const tile = section(page, 'Applications').getByRole('listitem').filter({ hasText: 'inventory' })
      await tile.getByText(good).waitFor()
      await tile.getByRole('img', { name: /^Last ten: .*\d deployed, \d+ failed/ }).waitFor()
      // The next run of this flow lets other new Pods crash.
      expect(await world.service.waitForEnd(later)).toMatchObject({ status: 'deployed' })
    },
  },
  {
    name: 'twenty rollouts are six rows, each with its Pods, and a button for the others',
    async run({ world, open, look }) {
      await using opened = await open('/')
      const { page } = opened
      await page.route('**/api/v1/tasks?status=in+progress*', (route) =>
        route.fulfill({ json: { tasks: rollouts, total: rollouts.length } }),
      )
      await page.route('**/api/v1/tasks/roll-*', (route) => {
        const task = rollouts.find(({ id }) => route.request().url().endsWith(`/${id}`))
        return route.fulfill({
          json: { ...task, diagnosis: { conditions: [], evidence: [], next_steps: [], links: [], pods } },
        })
      })
      await page.route('**/api/v1/apps/summary', async (route) => {
        const { apps } = await (await route.fetch()).json()
        const usual = rollouts.map(({ app }) => ({ app, counts: {}, median_seconds: 3_599, recent: [] }))
        await route.fulfill({ json: { apps: [...apps, ...usual] } })
      })
      await page.goto(`${world.service.url}/`)
      const rows = section(page, 'Rolling out now').getByRole('listitem')
      await rows.nth(5).getByText('1 of 2 Pods ready').waitFor()
      await rows.nth(5).getByRole('img', { name: '1 of 2 Pods ready' }).waitFor()
      expect(await rows.count()).toBe(6)
      await rows.first().getByText('of usual 59 min 59 s').waitFor()
      // Nothing of a row stands outside of it, and neither its name nor its time is cut.
      const misplaced = await section(page, 'Rolling out now').evaluate((list) =>
        [...list.querySelectorAll('li.roll')].flatMap((row) =>
          [...row.querySelectorAll('.name, .c-time')]
            .filter((part) => {
              const isOutside = part.getBoundingClientRect().right > row.getBoundingClientRect().right + 1
              return isOutside || part.scrollWidth > part.clientWidth + 1
            })
            .map((part) => part.textContent),
        ),
      )
      expect(misplaced).toEqual([])
      const isWide = (page.viewportSize()?.width ?? 0) > 768
      if (isWide) for (const row of await rows.all()) expect((await row.boundingBox())?.height).toBeLessThanOrEqual(40)
      await look(opened)
      await section(page, 'Rolling out now').getByRole('button', { name: '14 more' }).click()
      expect(await rows.count()).toBe(20)
    },
  },
  {
    name: 'the overview keeps its places while the day comes later',
    async run({ world, open }) {
      await using opened = await open('/')
      const { page } = opened
      await page.addInitScript(shiftsOfLayout)
      const [summary, day] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      for (const [path, { promise }] of [
        ['apps/summary', summary],
        ['history?days=1*', day],
      ] as const)
        await page.route(`**/api/v1/${path}`, async (route) => {
          await promise
          await route.continue()
        })
      await page.goto(`${world.service.url}/`)
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      const foot = await page.getByRole('contentinfo').boundingBox()
      expect(foot?.y).toBeGreaterThanOrEqual(page.viewportSize()?.height ?? 0)
      summary.resolve()
      await section(page, 'Applications').getByRole('listitem').first().waitFor()
      await page.evaluate('window.layoutShift = 0')
      day.resolve()
      await page.getByText(/deployed today/).waitFor()
      await page.getByText(/^Deployments today by time of day/).waitFor({ state: 'attached' })
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      expect(await page.evaluate('window.layoutShift')).toBeLessThanOrEqual(0.05)
      expect(await page.locator('.day a title').first().textContent()).toMatch(/^\S+: [a-z]+, \d\d:\d\d$/)
    },
  },
  {
    name: 'a page that is cut off tries again within 5 s, and is live when the service is back',
    complaint: /net::ERR_/,
    async run({ world, open }) {
      await using opened = await open('/settings')
      const { page } = opened
      await page.clock.install()
      let attempts = 0
      await page.route('**/api/v1/events*', async (route) => {
        attempts += 1
        await route.abort()
      })
      await page.goto(`${world.service.url}/settings`)
      await page.getByText(/^Not live since/).waitFor()
      for (let step = 0; step < 12; step += 1) {
        const before = attempts
        await page.clock.runFor(5_000)
        await expect.poll(() => attempts).toBeGreaterThan(before)
      }
      await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1_000)
      for (const hint of [
        "window.dispatchEvent(new Event('online'))",
        "document.dispatchEvent(new Event('visibilitychange'))",
        'document.body.click()',
      ]) {
        await page.clock.runFor(1_000) // there is at most one attempt a second
        const before = attempts
        await page.evaluate(hint)
        await expect.poll(() => attempts, { message: hint }).toBeGreaterThan(before)
      }
      await page.unroute('**/api/v1/events*')
      await page.clock.runFor(5_000)
      await page.getByText('Live', { exact: true }).waitFor()
    },
  },
  {
    name: 'before the first deployment three steps lead to it, with an application that is there',
    async run({ world, open, look }) {
      await using opened = await open('/')
      const { page } = opened
      await page.route('**/api/v1/apps/summary*', (route) =>
        route.fulfill({ json: { as_of: Date.now() / 1000, days: 30, apps: [] } }),
      )
      await page.route('**/api/v1/tasks?*', (route) => route.fulfill({ json: { tasks: [], total: 0 } }))
      await page.goto(`${world.service.url}/`)
      const steps = section(page, 'No deployment yet').getByRole('list').getByRole('listitem')
      await steps
        .nth(0)
        .getByText(/^Connected\./)
        .waitFor()
      await steps
        .nth(1)
        .getByText(/deploy token|one: WATCHER_DEPLOY_TOKEN/)
        .waitFor()
      await steps
        .nth(2)
        .getByText(/"app": "\w/)
        .waitFor()
      const command = await steps.nth(2).locator('code').textContent()
      expect(command).toMatch(/"image": "registry\.example\/[a-z-]+"/)
      await look(opened)
      await steps.nth(2).getByLabel('GitHub').press('Space')
      await steps.nth(2).getByText('secrets.WATCHER_TOKEN').waitFor()
      await look(opened)
      expect(await page.getByRole('banner').getByRole('link', { name: 'API explorer' }).count()).toBe(0)
    },
  },
  {
    name: 'what ends under the pointer keeps its place with its verdict until the pointer leaves',
    async run({ world, open }) {
      const tag = newTag()
      world.hold('inventory', 'never-ready', 'v0')
      await using opened = await open('/')
      const { page } = opened
      await page.getByText('Live', { exact: true }).waitFor()
      const id = await world.deploy('inventory', tag)
      const rollouts = section(page, 'Rolling out now')
      await rollouts.getByText(tag).waitFor()
      await rollouts.hover()
      await page.mouse.move(0, 0)
      await rollouts.getByText(tag).hover()
      world.hold('inventory', 'never-ready', 'v0', tag)
      await world.deploy('inventory', newTag())
      await world.service.waitForEnd(id)
      await rollouts.getByRole('listitem').filter({ hasText: tag }).getByText('Cancelled', { exact: true }).waitFor()
      await page.mouse.move(0, 0)
      await rollouts.getByText(tag).waitFor({ state: 'detached' })
    },
  },
  {
    name: 'the tab tells of a deployment and of its end, by a notification on request, also while it is hidden',
    async run({ world, open, look }) {
      const tag = newTag()
      world.hold('held', 'never-ready', 'v0')
      const id = await world.deploy('held', tag)
      await using opened = await open('/')
      const { page } = opened
      await page.addInitScript(notingNotifications)
      await page.goto(`${world.service.url}/task/${id}`)
      await expect.poll(() => page.title()).toBe(`held ${tag} in progress · Deployment Watcher`)
      await requireFavicon(page, '--accent-mark')
      await page.getByRole('button', { name: 'Notify me when it ends' }).click()
      await page.getByRole('button', { name: 'Notify me when it ends', pressed: true }).waitFor()
      await look(opened)
      await page.evaluate(`{
        Object.defineProperty(document, 'hidden', { get: () => true })
        document.dispatchEvent(new Event('visibilitychange'))
      }`)
      await world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
      await expect.poll(() => page.evaluate('window.notified')).toEqual([`held ${tag} cancelled`])
      await expect.poll(() => page.title()).toBe(`held ${tag} cancelled · Deployment Watcher`)
      await requireFavicon(page, '--ink')
    },
  },
  {
    name: 'a task, an application and a page are found from anywhere',
    async run({ tasks, open, look }) {
      await using opened = await open('/lock')
      const { page } = opened
      await page.getByRole('heading', { level: 1 }).waitFor()
      const typeInDialog = (text: string) => page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').fill(text)
      const find = async (text: string) => {
        await page.getByRole('dialog').waitFor({ state: 'hidden' }) // the address changes before it closes
        await page.keyboard.press('/')
        await typeInDialog(text)
      }
      const found = (name: string | RegExp): Locator =>
        page.getByRole('dialog', { name: 'Find' }).getByRole('option', { name })
      await find(tasks.failed)
      await found(/preferences/).waitFor()
      await look(opened)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/task/${tasks.failed}`)
      await find('prefer')
      await found(/^preferences/).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/tasks?app=preferences')
      await find('hist')
      await page.evaluate(`
        const field = document.activeElement
        field.closest('dialog').close()
        // Before the focus leaves it and the browser tells that it closed.
        field.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }))
      `)
      await typeInDialog('hist')
      await found('History').click()
      await page.locator('h1:focus').getByText('History').waitFor()
      await page.keyboard.press('Control+k')
      await typeInDialog('anything')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    },
  },
  {
    name: 'the history leads from a figure and from a cause to their tasks',
    async run({ world, open, look }) {
      await using opened = await open('/')
      const { page } = opened
      await page.route('**/api/v1/history?*', async (route) => {
        const history = await (await route.fetch()).json()
        history.total.counts.failed += 2 // by a cause without a name
        history.total.rollbacks = [{ cause: 'crash_loop', count: 2 }, { count: 1 }]
        await route.fulfill({ json: history })
      })
      await page.goto(`${world.service.url}/history?days=7&project=shop`)
      await page.getByText(/deployments? in 7 days\. .+ succeeded/).waitFor()
      await page
        .getByRole('img', { name: /^Deployments a day over 7 days/ })
        .locator('canvas')
        .waitFor()
      for (const name of ['Deploy frequency', 'Lead time', 'Change failure rate', 'Time to restore'])
        await page.locator(`dt:text-is("${name}")`).waitFor()
      await section(page, 'Rollbacks').getByText('It had been deployed').waitFor()
      await page.getByText('No deployment of these days names its source commit.').waitFor()
      expect(await page.getByRole('figure', { name: 'Lead time' }).count()).toBe(0)
      await section(page, 'Why deployments failed').getByText('Other', { exact: true }).waitFor()
      const numbers = (await section(page, 'Why deployments failed').locator('.num').allTextContents()).map(Number)
      const total = Number(await section(page, 'Why deployments failed').locator('.count').textContent())
      expect(numbers.reduce((sum, count) => sum + count, 0)).toBe(total)
      const chart = page.getByRole('img', { name: /^Deployments a day over 7 days/ })
      await chart.press('ArrowLeft')
      await page
        .getByRole('status')
        .getByText(/: \d+ deployed, \d+ failed/)
        .waitFor()
      await chart.press('Escape')
      await page
        .getByRole('status')
        .getByText(/: \d+ deployed, \d+ failed/)
        .waitFor({ state: 'detached' })
      await chart.locator('.u-over').hover()
      await page
        .getByRole('status')
        .getByText(/: \d+ deployed, \d+ failed/)
        .waitFor()
      const figure = page.getByRole('figure', { name: 'Deployments a day' })
      await figure.getByText('Show as a table').click()
      await look(opened)
      await figure.getByRole('row').nth(1).getByRole('cell').nth(1).getByRole('link').click()
      await page.waitForURL(/\/tasks\?status=failed&project=shop&ended_from=\d+&ended_to=\d+$/)
      await page.getByRole('rowheader', { name: 'preferences' }).first().waitFor()
      await page.goBack()
      await section(page, 'Why deployments failed').getByRole('link', { name: causes.crash_loop.headline }).click()
      await page.waitForURL(/\/tasks\?project=shop&cause=crash_loop&ended_from=/)
      await page.getByRole('rowheader', { name: 'preferences' }).first().waitFor()
    },
  },
  {
    name: 'a version that drifts is found, named and taken into a spreadsheet',
    async run({ world, open, look }) {
      const [tag, other] = [newTag(), newTag()]
      const { updated } = await world.service.waitForEnd(await world.deploy('orders', tag))
      await using opened = await open('/')
      const { page } = opened
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Versions' }).click()
      await page.getByRole('heading', { level: 1, name: 'Versions' }).waitFor()
      await page.getByLabel('Search').fill('ORDERS')
      await page.waitForURL('**/versions?search=ORDERS')
      const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'orders', exact: true }) })
      await row.getByText(tag, { exact: true }).waitFor()
      expect(await row.locator('time').getAttribute('datetime')).toBe(
        `${new Date(updated * 1000).toISOString().slice(0, 19)}Z`,
      )
      const file = { 'apps/orders/.argocd-source-orders.yaml': overrideOf(other) }
      await world.simulator.git.commit('gitops', file)
      world.simulator.controller.refreshNow({ name: 'orders', namespace: 'argocd' }, 3)
      const readUntil = async (query: string, total: number) => {
        const path = `/api/v1/versions?app=orders&${query}`
        await expect
          .poll(async () => (await world.service.request(path, { headers: withToken })).body)
          .toMatchObject({ total })
        await page.reload()
      }
      await readUntil('drift=true', 1)
      await row.getByText(`drift: ${tag} was deployed last`).waitFor()
      await row.getByText('not by this service').waitFor()
      await page.getByRole('checkbox', { name: 'Only drift' }).press('Space')
      await page.waitForURL('**/versions?search=ORDERS&drift=true')
      await page.getByText('1 image in 1 application. 1 drifts.').waitFor()
      await look(opened)
      const saving = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download CSV' }).click()
      const [, line] = (await readFile(await (await saving).path(), 'utf8')).split('\r\n')
      expect(line).toMatch(
        new RegExp(`^"orders","registry.example/orders","${other}","","","[^"]+","true","${tag}",""$`),
      )
      const next = newTag()
      await world.service.waitForEnd(await world.deploy('orders', next))
      await readUntil(`search=${next}`, 1)
      await page.getByRole('heading', { name: 'Nothing drifts' }).waitFor()
    },
  },
  {
    name: 'a history that the service does not have is named and cleared',
    async run({ open, look }) {
      await using opened = await open('/history?days=31&tz=Mars%2FOlympus&project=shop')
      const { page } = opened
      await page.getByText('days=31').waitFor()
      await page.getByText('tz=Mars/Olympus').waitFor()
      await page.getByText(/in 30 days\./).waitFor()
      await look(opened)
      await page.getByRole('link', { name: 'Clear it' }).click()
      expect(addressOf(page)).toBe('/history?project=shop')
      await page.getByText('Days are UTC.').waitFor()
      expect(addressOf(page)).toBe('/history?project=shop')
    },
  },
]

/** The same where there is an identity provider. */
export const tokenFlows: readonly Flow[] = [
  {
    name: 'a token is issued after what the service rejects is corrected, shown once, and revoked',
    isInNpmTest: true,
    complaint: /406/,
    async run({ world, open, look }) {
      const description = `ci-${newTag()}`
      await using opened = await open('/settings')
      const { page } = opened
      await page.getByRole('button', { name: 'Issue a token' }).click()
      const dialog = page.getByRole('dialog', { name: 'Issue a deploy token' })
      const named = async (label: string | RegExp) => {
        const field = dialog.getByLabel(label)
        await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
        return page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent()
      }
      const issue = dialog.getByRole('button', { name: 'Issue token' })
      await dialog.getByLabel('Applications').fill('inventory, search-*')
      await issue.click()
      expect(await named('Description')).toContain('description')
      await dialog.getByLabel('Description').fill(description)
      await dialog.getByLabel('At a time').press('Space')
      for (const [time, rule] of [
        ['2020-01-01T10:00', 'must be in the future'],
        ['2099-01-01T10:00', 'must be at most a year ahead'],
      ] as const) {
        await dialog.getByLabel('Date and time in UTC').fill(time)
        await issue.click()
        await dialog.getByText(rule).waitFor()
        expect(await named('Date and time in UTC')).toContain(rule)
        expect(await dialog.getByLabel('Description').inputValue()).toBe(description)
      }
      await look(opened)
      await dialog.getByLabel('90 days').press('Space')
      await issue.click()
      await dialog.waitFor({ state: 'detached' })
      const token = (await page.locator('.once code.code-block').textContent()) ?? ''
      expect(token).toMatch(/^dwt_/)
      await look(opened)
      const status = async () => {
        const headers = { authorization: `Bearer ${token}` }
        // A good credential is told that there is no such task.
        return (await world.service.request('/api/v1/tasks/unknown', { method: 'DELETE', headers })).status
      }
      expect(await status()).toBe(404)
      await page.reload()
      const row = page.getByRole('row').filter({ hasText: description })
      await row.getByText('search-*').waitFor()
      expect(await page.getByText(token).count()).toBe(0)
      await row.getByRole('button', { name: `Revoke ${description}` }).click()
      const question = page.getByRole('dialog', { name: `Revoke ${description}?` })
      await question.getByText(/^It was last used .+\sago\./).waitFor()
      await question.getByRole('button', { name: 'Keep the token' }).click()
      expect(await status()).toBe(404)
      await row.getByRole('button', { name: `Revoke ${description}` }).click()
      await question.getByRole('button', { name: 'Revoke token' }).click()
      await page.getByText(`${description} is revoked.`).waitFor()
      expect(await status()).toBe(401)
      await page.getByText(/expired or revoked token/).click()
      await page.getByRole('row').filter({ hasText: description }).getByText('Revoked').waitFor()
    },
  },
  {
    name: 'settings are shown to who has signed in, and a secret never',
    async run({ open, look }) {
      await using opened = await open('/settings#effective')
      const { page } = opened
      const settings = section(page, 'Effective settings')
      const row = (name: string) => settings.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
      await row('ARGO_TOKEN').getByText('set', { exact: true }).waitFor()
      expect(await row('ARGO_API_TIMEOUT').count()).toBe(0)
      await settings.getByLabel('Find a setting').fill('api timeout')
      await row('ARGO_API_TIMEOUT').waitFor()
      expect(await row('ARGO_TOKEN').count()).toBe(0)
      await settings.getByLabel('Find a setting').fill('')
      await settings.getByRole('button', { name: /^Show all \d+ settings$/ }).click()
      await row('ARGO_API_TIMEOUT').getByText('default').waitFor()
      await section(page, 'Version and health')
        .getByText(/^PostgreSQL \d+/)
        .waitFor()
      await look(opened)
      expect(await page.content()).not.toContain('deploy-token-of-the-tests')
    },
  },
  {
    name: 'settings say what opens them to who has not signed in',
    kinds: ['open reading'],
    async run({ open, look }) {
      await using opened = await open('/settings', 'signed out')
      const { page } = opened
      const settings = section(page, 'Effective settings')
      await settings.getByText('Sign in to see the settings.').waitFor()
      await settings.getByRole('link', { name: 'Sign in' }).waitFor()
      await section(page, 'Deploy tokens').getByText('Sign in to read and issue deploy tokens.').waitFor()
      await look(opened)
    },
  },
]
