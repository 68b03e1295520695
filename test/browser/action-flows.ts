import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { pastHeadlineOf } from '../../contract/causes.ts'
import type { World } from '../support/world.ts'
import type { Flow } from './flows.ts'

/** A tag that no other run of a flow has. */
const newTag = () => `v-${randomUUID().slice(0, 8)}`
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const lockPath = '/api/v1/deploy-lock'

/** Locks deployments for an hour, until disposed of. */
async function lock({ ada, service }: World) {
  const until = Math.floor(Date.now() / 1000) + 3_600
  await ada?.change(service.url, lockPath, 'POST', { reason: 'failover', until })
  return { until, [Symbol.asyncDispose]: async () => void (await ada?.change(service.url, lockPath, 'DELETE')) }
}

const clockIn = (timeZone: string, at: number) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(at * 1000)

/** What somebody does to a deployment, and what a page must not offer. */
export const actionFlows: readonly Flow[] = [
  {
    name: 'a failed deployment is rolled back: the new task is marked, and the failed one is history',
    isInNpmTest: true,
    async run({ world, open, look }) {
      const [good, bad] = [newTag(), newTag()]
      world.hold('orders', 'crashes', 'v0', good)
      const target = await world.deploy('orders', good)
      await world.service.waitForEnd(target)
      const failed = await world.deploy('orders', bad)
      await world.service.waitForEnd(failed)
      await using opened = await open(`/task/${failed}`)
      const { page } = opened
      await button(page, `Roll back to ${good}`).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: `Roll back to ${good}` })
        .click()
      await page.waitForURL((url) => !url.href.endsWith(failed))
      await page.getByRole('heading', { level: 2, name: /^Deployed in/ }).waitFor()
      await page.getByText('rollback', { exact: true }).waitFor()
      expect(await page.locator('dt:text("Rolls back to") + dd').textContent()).toBe(target)
      expect(await button(page, /Roll back/).count()).toBe(0) // it runs
      const rollback = new URL(page.url()).pathname
      await page.goto(`${world.service.url}/task/${failed}`)
      const since = page.getByText(/^\S+ was deployed since, \d+\s(s|min)\sago$/)
      await since.waitFor()
      expect(await since.getByRole('link', { name: good }).getAttribute('href')).toBe(rollback)
      await page.getByRole('heading', { level: 2, name: pastHeadlineOf('crash_loop') }).waitFor()
      await page.locator('.verdict.calm').waitFor() // no red ground: it is over
      await page.getByText('The old version still served: 2 of 2 Pods were ready.').waitFor()
      expect(await button(page, /Roll back/).count()).toBe(0)
      await look(opened)
      await button(page, 'Deploy again').click()
      const question = page.getByRole('dialog', { name: `${good} runs now. Deploy ${bad} in its place?` })
      await question.getByRole('button', { name: 'Keep what runs' }).click()
      expect(new URL(page.url()).pathname).toBe(`/task/${failed}`)
    },
  },
  {
    name: 'a superseded task leads to the newer one and does not offer to deploy over it',
    async run({ tasks, open, look }) {
      await using opened = await open(`/task/${tasks.cancelled}`)
      const { page } = opened
      const newer = page.getByRole('link', { name: 'Open the newer deployment' })
      await newer.waitFor()
      await button(page, 'Copy report').waitFor()
      expect(await button(page, /Deploy again|Roll back/).count()).toBe(0)
      await look(opened)
      await newer.click()
      await page.locator('dt:text("Replaces")').waitFor()
      expect(page.url()).not.toContain(tasks.cancelled)
    },
  },
  {
    name: 'a deployment is cancelled and rolled back at once, and an error of it leaves once the page was read since',
    complaint: /net::ERR_FAILED/,
    async run({ world, open, look }) {
      const [good, bad] = [newTag(), newTag()]
      world.hold('orders', 'never-ready', 'v0', good)
      await world.service.waitForEnd(await world.deploy('orders', good))
      const id = await world.deploy('orders', bad)
      await world.service.waitForTask(id, (task) => task.commit !== undefined)
      await using opened = await open(`/task/${id}`)
      const { page } = opened
      await page.clock.install()
      const question = page.getByRole('dialog', { name: 'Cancel this deployment?' })
      const answer = async (name: string) => {
        await button(page, 'Cancel deployment').click()
        await look(opened)
        await question.getByRole('button', { name }).click()
      }
      await page.route('**/api/v1/tasks/*', (route) =>
        route.request().method() === 'DELETE' ? route.abort() : route.continue(),
      )
      await answer('Cancel deployment')
      const rejection = page.getByText('Cancel deployment: the service did not answer.')
      await rejection.waitFor()
      await page.clock.fastForward(16_000)
      await rejection.waitFor({ state: 'detached' })
      await page.unroute('**/api/v1/tasks/*')
      await answer(`Cancel and roll back to ${good}`)
      await page.waitForURL((url) => !url.href.endsWith(id))
      await page.getByRole('heading', { level: 2, name: /^Deployed in/ }).waitFor()
      expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    },
  },
  {
    name: 'while locked, a deployment can be cancelled, but neither repeated nor rolled back',
    async run({ world, tasks, open, look }) {
      await using locked = await lock(world)
      await using opened = await open(`/task/${tasks.failed}`)
      const { page } = opened
      const why = new RegExp(`^Locked until (.+, )?${clockIn('UTC', locked.until)}\\. Release the lock first\\.$`)
      await page.getByText(/^Deployments are locked/).waitFor()
      const actions = [button(page, 'Roll back to v1'), button(page, 'Deploy again')]
      for (const action of actions) {
        expect(await action.getAttribute('aria-disabled')).toBe('true')
        const described = await action.getAttribute('aria-describedby')
        expect(await page.locator(`[id="${described}"]`).textContent()).toMatch(why)
        await action.click({ force: true })
        expect(await page.getByRole('dialog').count()).toBe(0)
      }
      await look(opened)
      await page.goto(`${world.service.url}/task/${tasks.waiting}`)
      await button(page, 'Cancel deployment').waitFor()
      expect(await button(page, 'Cancel deployment').getAttribute('aria-disabled')).toBe('false')
      await page.goto(`${world.service.url}/task/${tasks.failed}`)
      await button(page, 'Release').click()
      for (const action of actions) await expect.poll(() => action.getAttribute('aria-disabled')).toBe('false')
    },
  },
  {
    name: 'the lock has one clock on every page, the one that the reader chose',
    timeZone: 'Europe/Stockholm',
    async run({ world, open, look }) {
      await using locked = await lock(world)
      await using opened = await open('/lock')
      const { page } = opened
      const requireClock = async (zone: string, label: string) => {
        const end = `until (.+, )?${clockIn(zone, locked.until)}${label}`
        await page.goto(`${world.service.url}/lock`)
        await page.getByRole('heading', { name: new RegExp(`^Locked ${end}$`) }).waitFor()
        await page.locator(`[aria-label^="This week in ${zone}."]`).waitFor({ state: 'attached' }) // a list where it is narrow
        const time = page.getByRole('row').nth(1).locator('time')
        const at = Date.parse((await time.getAttribute('datetime')) ?? '') / 1000
        expect(await time.textContent()).toMatch(new RegExp(`${clockIn(zone, at)}${label}$`))
        await look(opened)
        await page.goto(`${world.service.url}/`)
        await page.getByText(new RegExp(`^Deployments are locked ${end} by ada: failover\\.$`)).waitFor()
        await page
          .getByRole('region', { name: 'Deploy lock' })
          .getByText(new RegExp(`^\\s*Locked ${end}$`))
          .waitFor()
      }
      await requireClock('Europe/Stockholm', '')
      await page.goto(`${world.service.url}/settings`)
      await page.getByRole('region', { name: 'On this device' }).getByLabel('Time zone').selectOption('UTC')
      await requireClock('UTC', '\\sUTC')
      await page.goto(`${world.service.url}/history`)
      await page.getByText('Days are UTC.').waitFor()
      expect(
        await page
          .getByRole('main')
          .getByRole('combobox', { name: /zone|Shown in/ })
          .count(),
      ).toBe(0)
      await page.goto(`${world.service.url}/history?tz=Asia%2FTokyo`)
      await page.getByText('Days are Asia/Tokyo.').waitFor()
    },
  },
]
