import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { OpenedPage } from '../support/browser.ts'
import type { ExampleTasks } from '../support/example-tasks.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import type { World } from '../support/world.ts'
import { actionFlows } from './action-flows.ts'
import type { Kind } from './combinations.ts'
import { withProvider } from './combinations.ts'
import { overviewFlows, tokenFlows } from './overview-flows.ts'

type Visit = {
  readonly world: World
  readonly tasks: ExampleTasks
  /** Opens a page in the combination that is tried, as a user who may act unless somebody else is given. */
  readonly open: (path: string, as?: HttpBrowser | 'signed out') => Promise<OpenedPage>
  /** Requires of the page as it is what holds for every page. */
  readonly look: (opened: OpenedPage) => Promise<void>
}

/** What somebody does, from the first page to the last. Another flow is another row. */
export type Flow = {
  readonly name: string
  readonly kinds?: readonly Kind[]
  /** `npm test` tries these, in one combination; `npm run test:browser` tries every flow in all of them. */
  readonly isInNpmTest?: true
  /** Of the browser; else UTC. */
  readonly timeZone?: string
  /** What the console says of it. */
  readonly complaint?: RegExp
  readonly run: (visit: Visit) => Promise<void>
}

/** A tag that no other run of a flow has. */
const newTag = () => `v-${randomUUID().slice(0, 8)}`
const addressOf = (page: Page) => new URL(page.url()).pathname
const lockPath = '/api/v1/deploy-lock'

export const flows: readonly Flow[] = [
  {
    name: 'a deployment is followed from the list to its verdict',
    isInNpmTest: true,
    async run({ world, open, look }) {
      await using opened = await open('/tasks?app=payments-worker')
      const { page } = opened
      await page.getByRole('row').nth(1).waitFor()
      await page.getByText('Live', { exact: true }).waitFor()
      const id = await world.deploy('payments-worker', newTag())
      await page.getByRole('button', { name: '1 new deployment' }).click()
      await page.locator(`a[href="/task/${id}"]`).click()
      expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
      await page.getByRole('heading', { level: 2, name: /^Deployed in/ }).waitFor()
      await page
        .getByRole('region', { name: 'Timeline' })
        .getByText(/^Deployed in/)
        .waitFor()
      await look(opened)
    },
  },
  {
    name: 'the list is narrowed until nothing is left, and widened again',
    isInNpmTest: true,
    async run({ open, look }) {
      await using opened = await open('/tasks')
      const { page } = opened
      await page.getByRole('checkbox', { name: 'Failed' }).press('Space')
      await page.waitForURL('**/tasks?status=failed')
      const filters = page.getByRole('button', { name: 'Filters' })
      if (await filters.isVisible()) await filters.click()
      await page.getByLabel('Search').fill('nothing like it')
      await page.getByRole('heading', { name: /^No failed deployment with/ }).waitFor()
      await look(opened)
      await page.getByRole('link', { name: 'Clear all filters' }).click()
      await page.getByRole('row').nth(3).waitFor()
    },
  },
  {
    name: 'deployments are locked with a reason, and Undo opens them again',
    isInNpmTest: true,
    kinds: withProvider,
    async run({ world, open, look }) {
      await using opened = await open('/lock')
      const { page } = opened
      await page.getByLabel('Reason').fill('Moving the database, OPS-2214')
      await page.getByText('The banner on every page shows the reason.').waitFor()
      await page.getByRole('button', { name: 'Lock deployments' }).click()
      await page.getByRole('status').filter({ hasText: 'All deployments are locked.' }).waitFor()
      await page.getByRole('heading', { name: /^Locked until/ }).waitFor()
      expect(await page.getByText(/^Deployments are locked/).count()).toBe(0) // the sheet says it
      await page
        .getByRole('row')
        .getByText(/^Moving the database, OPS-2214 \(until (.+, )?\d\d:\d\d\)$/)
        .first()
        .waitFor()
      const week = await page.locator('svg.week').boundingBox() // a list where it is narrow
      expect(week?.height ?? 0).toBeLessThanOrEqual(200)
      await look(opened)
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('heading', { name: 'Open' }).waitFor()
      expect((await world.service.request(lockPath)).body).toBe(false)
    },
  },
  {
    name: 'a deployment is cancelled after one question',
    isInNpmTest: true,
    kinds: withProvider,
    async run({ world, open, look }) {
      world.hold('held', 'never-ready', 'v0')
      const id = await world.deploy('held', newTag())
      await using opened = await open(`/task/${id}`)
      const { page } = opened
      await page.getByRole('button', { name: 'Cancel deployment', exact: true }).click()
      const question = page.getByRole('dialog', { name: 'Cancel this deployment?' })
      await question.waitFor()
      await look(opened)
      await question.getByRole('button', { name: 'Cancel deployment' }).click()
      await page.getByRole('heading', { level: 2, name: 'Cancelled on request' }).waitFor()
      await page.getByText(/^Commit \w{7} stays on main, so Argo CD still rolls it out\.$/).waitFor()
      await page.locator('h1:focus').waitFor() // its button is gone
    },
  },
  {
    name: 'a user signs in, comes back to the page, and signs out',
    isInNpmTest: true,
    kinds: withProvider,
    complaint: /401/,
    async run({ world, open, look }) {
      world.idp?.users.set('grace', { preferred_username: 'grace', groups: ['platform'] })
      await using opened = await open('/lock?tz=Asia%2FKolkata', 'signed out')
      const { page } = opened
      await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click()
      await page.locator('input[name="login"]').fill('grace')
      await page.locator('input[name="password"]').fill('any')
      await page.locator('button[type="submit"]').click()
      await page.waitForURL(`${world.service.url}/lock?tz=Asia%2FKolkata`)
      await page.getByRole('button', { name: 'grace, account' }).click()
      await page.getByRole('dialog', { name: 'Account' }).waitFor()
      await look(opened)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(`${world.idp?.issuer}/session/end**`)
    },
  },
  {
    name: 'colours, times and shortcuts are kept on the device',
    async run({ open, look }) {
      await using opened = await open('/settings')
      const { page } = opened
      const press = async (...keys: readonly string[]) => {
        for (const key of keys) await page.keyboard.press(key)
      }
      const choice = (name: string) => page.getByRole('radio', { name, exact: true })
      const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      const chosen = ['Dark', '14:26', 'Off']
      await choice('System').waitFor()
      await press('g', 't')
      await page.waitForURL('**/tasks')
      await press('g', 's')
      await page.waitForURL('**/settings')
      for (const name of chosen) await choice(name).press('Space')
      await page.reload()
      await choice('Dark').waitFor()
      for (const name of chosen) expect(await choice(name).isChecked(), name).toBe(true)
      expect(await page.locator('html').getAttribute('data-scheme')).toBe('dark')
      await press('?', 'g', 't')
      expect([await keys.count(), addressOf(page)]).toEqual([0, '/settings'])
      await look(opened)
      await choice('On').press('Space')
      await page.getByRole('heading', { level: 1 }).click()
      await press('?')
      await keys.waitFor()
      await press('Escape')
      await keys.waitFor({ state: 'hidden' })
    },
  },
  {
    name: 'a session ends while a page is open: what was typed stays, and one way leads back',
    kinds: withProvider,
    complaint: /401/,
    async run({ world, open, look }) {
      await using opened = await open('/lock', await world.signedIn('eve'))
      const { page } = opened
      await page.getByLabel('Reason').fill('OPS-3')
      await world.rows("DELETE FROM watcher.sessions WHERE name = 'eve'")
      await page.getByRole('button', { name: 'Lock deployments' }).click({ force: true }) // it is off already where the page has noticed
      await page.getByText(/^Your session has ended\.|^You are signed out\./).waitFor()
      await page.getByText('"reason":"OPS-3"').waitFor()
      await look(opened)
    },
  },
  ...overviewFlows,
  ...actionFlows.map((flow) => ({ kinds: withProvider, ...flow })),
  ...tokenFlows.map((flow) => ({ kinds: withProvider, ...flow })),
]
