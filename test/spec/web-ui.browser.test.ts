import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { causes } from '../../contract/causes.ts'
import type { OpenOptions } from '../support/browser.ts'
import { deployExamples, type ExampleTasks, exampleApplications, insertHistory } from '../support/example-tasks.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
let tasks: ExampleTasks
beforeAll(async () => {
  world = await startWorld({
    parts: ['argo cd', 'lines', 'browser'],
    applications: [...exampleApplications, 'places', 'newcomer', 'too-slow'],
  })
  tasks = await deployExamples(world)
  await insertHistory(world, 'history', 120)
})
afterAll(() => world?.[Symbol.asyncDispose]())

const open = (path: string, options?: OpenOptions) => world.open(path, options)

const minutesOf = (text: string | null) => {
  const [, hours = 0, minutes = 0] = (/(\d\d):(\d\d):\d\d/.exec(text ?? '') ?? []).map(Number)
  return hours * 60 + minutes
}
const names = (page: Page) => page.getByRole('rowheader').getByRole('link')
const addressOf = (page: Page) => page.url().replace(world.service.url, '')
const quiet = { complaints: [], outside: [] }

describe('the list of deployments', () => {
  test('shows a row for each task with its status in words, its tag and its cause', async () => {
    await using opened = await open('/tasks?project=shop')
    const { page, complaints, outside } = opened
    const failed = page.getByRole('row').filter({ hasText: 'preferences' }).filter({ hasText: 'Failed' })
    await failed.getByText(/crashes on start/).waitFor()
    await failed.getByText('v2').waitFor()
    await failed.getByRole('img', { name: 'Stopped at gate 5 of 6: Healthy' }).waitFor()
    const missing = page.getByRole('row').filter({ hasText: 'preferencse' })
    await missing.getByText('App not found', { exact: true }).waitFor()
    const count = await names(page).count()
    await page.getByText(`1–${count} of ${count}, newest first`).waitFor()
    expect(await page.title()).toBe('Deployments · Deployment Watcher')
    const waiting = page.getByRole('row').filter({ hasText: 'checkout-api' }).filter({ hasText: 'In progress' })
    for (const [row, label] of [
      [waiting, 'for'],
      [failed, 'took'],
    ] as const)
      expect(await row.locator('.c-took').getAttribute('data-label')).toBe(label) // on a phone it stands before the time
    expect({ complaints, outside }).toEqual(quiet)
  })

  test('says of 100 tasks why they ended, for every cause in the words that its page has', async () => {
    await insertHistory(world, 'causes', 100)
    const entries = Object.entries(causes)
    const expected = new Map<string, string>()
    for (const [at, [code, { status, headline }]] of entries.entries()) {
      const ended = await world.rows<{ id: string }>(
        `UPDATE watcher.tasks SET status = $1, cause = $2
         WHERE project = 'causes' AND substr(app, 5)::integer % $3 = $4 RETURNING id`,
        [status, code, entries.length, at],
      )
      for (const { id } of ended) expected.set(`/task/${id}`, headline)
    }
    await using opened = await open('/tasks?project=causes')
    const { page } = opened
    const said = new Map<string, string>()
    const readRows = async (oldest: string) => {
      await names(page).getByText(oldest, { exact: true }).waitFor()
      for (const cell of await page.getByRole('rowheader').all()) {
        const href = (await cell.getByRole('link').getAttribute('href')) ?? ''
        said.set(href, (await cell.locator('.dim').textContent()) ?? '')
      }
    }
    await readRows('app-51')
    await page.getByRole('link', { name: 'Older' }).click()
    await readRows('app-1')
    expect(said).toEqual(expected)
    const ofEachCause = new Map([...said].map(([href, words]) => [words, href]))
    for (const [words, href] of ofEachCause) {
      await page.goto(`${world.service.url}${href}`)
      const isMissing = words === causes.app_not_found.headline // its page has room for the name
      const name = isMissing ? /^Argo CD has no application “app-/ : new RegExp(`^${words}$`)
      await page.getByRole('heading', { level: 2, name }).waitFor()
    }
  })

  test('takes the focus to its heading when one comes from another page', async () => {
    await using opened = await open(`/task/${tasks.failed}`)
    await opened.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Deployments' }).click()
    await opened.page.locator('h1:focus').getByText('Deployments').waitFor()
    expect(addressOf(opened.page)).toBe('/tasks')
  })

  test('puts a filter into the address under the name the API has, and takes it from there', async () => {
    await using opened = await open('/tasks?project=shop')
    const { page } = opened
    await page.getByRole('checkbox', { name: 'Failed' }).press('Space')
    await page.waitForURL('**/tasks?status=failed&project=shop')
    await page.getByText('1–1 of 1, newest first').waitFor()
    await page.getByLabel('Application').fill('preferences')
    await page.getByLabel('Application').press('Enter')
    await page.waitForURL('**/tasks?status=failed&app=preferences&project=shop')
    await page.getByLabel('Search').fill('nothing like it')
    await page.getByRole('heading', { name: /^No failed deployment of preferences in project shop with/ }).waitFor()
    await page.getByRole('link', { name: 'Clear all filters' }).click()
    await names(page).first().waitFor()
    expect(addressOf(page)).toBe('/tasks')
    await page.goBack()
    await page.getByRole('heading', { name: /^No failed deployment/ }).waitFor()
    expect(await page.getByLabel('Application').inputValue()).toBe('preferences')
  })

  test('turns pages by a cursor in the address, which leads back to newer ones and can be shared', async () => {
    await using opened = await open('/tasks?project=history')
    const { page } = opened
    // The links below the rows move while those load, so each click waits for them.
    const firstIs = (app: string, { page }: { page: Page } = opened) =>
      page.getByRole('row').nth(1).getByRole('link', { name: app, exact: true }).waitFor()
    await page.getByText('1–50 of 120, newest first').waitFor()
    await page.getByRole('link', { name: 'Older' }).click()
    await firstIs('app-70')
    await page.locator('a:focus').getByText('Older').waitFor()
    expect(addressOf(page)).toMatch(/^\/tasks\?project=history&cursor=[0-9a-z]+-[0-9a-f]{32}$/)
    const second = addressOf(page)
    await page.getByText('51–100 of 120, newest first').waitFor()
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('101–120 of 120, newest first').waitFor()
    expect(await page.getByRole('link', { name: 'Older' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('link', { name: 'Newer' }).click()
    await firstIs('app-70')
    expect(addressOf(page)).toBe(second)
    await page.reload()
    await firstIs('app-70')
    await page.getByRole('link', { name: 'Newer' }).click()
    await firstIs('app-120')
    await using shared = await open(second)
    await firstIs('app-70', shared)
    await shared.page.getByText('50 of 120, newest first').waitFor() // how many came before it is not known
    await shared.page.getByRole('link', { name: 'Newest' }).click()
    await firstIs('app-120', shared)
  })

  test('counts the tasks of each status beside its chip, whatever status is chosen', async () => {
    await using opened = await open('/tasks?project=history&status=failed')
    const { page } = opened
    const chip = (name: RegExp) => page.locator('.choice label').filter({ hasText: name })
    await chip(/^Deployed/)
      .getByText('120')
      .waitFor()
    await chip(/^All/).getByText('120').waitFor()
    await chip(/^Failed/)
      .getByText('0')
      .waitFor()
  })

  test('offers names of tasks that are not on the page', async () => {
    await using opened = await open('/tasks?project=history')
    const { page } = opened
    await page.getByLabel('Application').pressSequentially('app-10')
    const offered = page.locator('datalist option[value="app-100"]')
    await offered.waitFor({ state: 'attached' })
    expect(addressOf(page)).toBe('/tasks?project=history')
    await page.getByLabel('Application').fill('app-100')
    await page.getByLabel('Search').focus()
    await page.waitForURL('**/tasks?app=app-100&project=history')
  })

  test('is narrowed to a time, which the address holds', async () => {
    await using opened = await open('/tasks?project=history')
    const { page } = opened
    await page.getByLabel('Created').selectOption('Last hour')
    await page.waitForURL(/from_timestamp=\d+$/)
    await page.getByText(/ of (58|59|60), newest first$/).waitFor()
    expect(await page.getByLabel('Created').locator('option:checked').textContent()).toBe('Last hour')
    await page.getByLabel('Created').selectOption('Between two times')
    await page.getByLabel('Until (UTC)').fill('2020-01-01T00:00')
    await page.getByText('must not be later than to_timestamp').waitFor()
    await page.getByRole('link', { name: 'Clear it' }).click()
    await page.getByLabel('Created').selectOption('Any time')
    await page.getByText('1–50 of 120, newest first').waitFor()
  })

  test('is narrowed to a cause and to the time of the end, which can be taken away', async () => {
    await using opened = await open('/tasks?project=shop&cause=crash_loop&ended_from=1')
    const { page } = opened
    await page.getByText('1–1 of 1, newest first').waitFor()
    await page.getByRole('link', { name: 'Remove the filter: Ended from' }).click()
    await page.waitForURL('**/tasks?project=shop&cause=crash_loop')
    await page.getByRole('link', { name: 'Remove the filter: Cause crash_loop' }).click()
    await page.waitForURL('**/tasks?project=shop')
  })

  test('keeps rows in their places: a new task waits, a change is shown where it stands', async () => {
    const project = 'places'
    world.hold('places', 'never-ready', 'v0')
    await world.deploy('places', 'v1', { project })
    await using filtered = await open('/tasks?status=in%20progress&project=places')
    await using opened = await open('/tasks?project=places')
    const { page } = opened
    await Promise.all([page, filtered.page].map((one) => names(one).first().waitFor()))
    await world.deploy('newcomer', 'v1', { project })
    await page.getByRole('button', { name: '1 new deployment' }).waitFor()
    expect(await names(page).allTextContents()).toEqual(['places'])
    await world.deploy('places', 'v2', { project })
    for (const one of [page, filtered.page])
      await one.getByRole('row').nth(1).getByText('Cancelled', { exact: true }).waitFor()
    expect(await names(filtered.page).allTextContents()).toEqual(['places'])
    await page.getByRole('button', { name: '2 new deployments' }).waitFor()
    await page.keyboard.press('.')
    await names(page).getByText('newcomer').waitFor()
    expect(await names(page).allTextContents()).toEqual(['places', 'newcomer', 'places'])
    expect(
      await names(page)
        .first()
        .evaluate((name) => name.matches(':focus')),
    ).toBe(true)
  })

  test('is walked with j and k, and opened with Enter', async () => {
    await using opened = await open('/tasks?project=history')
    const { page } = opened
    await names(page).first().waitFor()
    for (const key of ['j', 'j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name: 'app-119' }).waitFor()
    expect(await page.locator('h1:focus').count()).toBe(1)
  })

  test('opens a row by a click anywhere in it, and copies the link of a chosen one', async () => {
    await using opened = await open('/tasks?project=history')
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await names(page).first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('Link copied.').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    await page.getByRole('row').nth(1).getByText('history', { exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'app-120' }).waitFor()
    expect(copied).toBe(page.url())
  })

  test('answers what did not deploy, keeps the view on the device, and sorts by how long it took', async () => {
    await using opened = await open('/tasks?project=shop')
    const { page } = opened
    await page.getByRole('checkbox', { name: /^Not deployed/ }).press('Space')
    await page.waitForURL('**/tasks?status=failed%2Caborted%2Ccancelled%2Capp+not+found&project=shop')
    await page.getByRole('row').filter({ hasText: 'ledger' }).waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'payments-worker' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.goto(`${world.service.url}/tasks`)
    await page.getByRole('link', { name: /^failed or aborted or cancelled .* deployment in project shop$/ }).click()
    await page.getByRole('checkbox', { name: /^Failed/, checked: true }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Took' }).click()
    await page.getByText(/longest first$/).waitFor()
    const took = await page.locator('.c-took').allTextContents()
    const seconds = took.map((text) => Number.parseInt(text, 10))
    expect(seconds).toEqual(seconds.toSorted((a, b) => b - a))
  })

  test('of one application begins with what runs, and how its deployments go', async () => {
    await using opened = await open('/tasks?app=preferences')
    const { page } = opened
    const head = page.getByRole('region', { name: 'How it goes' })
    await page.getByRole('heading', { level: 1, name: 'preferences' }).waitFor()
    await head.getByText(/^v1 deployed/).waitFor()
    await head.getByRole('img', { name: 'Last ten: 1 deployed, 1 failed' }).waitFor()
    await head.getByText('50.0 %').waitFor()
    await head.getByRole('link', { name: 'Argo CD' }).waitFor()
    await head.getByRole('link', { name: 'Roll back to v1' }).click()
    await page.getByRole('heading', { level: 2, name: /crashes on start/ }).waitFor()
  })

  test('is where one left it after going back', async () => {
    await using opened = await open('/tasks?project=history')
    const { page } = opened
    await names(page).getByText('app-71', { exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'app-71' }).waitFor()
    expect(await page.evaluate('window.scrollY')).toBe(0)
    await page.goBack()
    await names(page).getByText('app-71', { exact: true }).waitFor()
    expect(await page.evaluate('window.scrollY')).toBeGreaterThan(500)
    await page.getByRole('checkbox', { name: /^Deployed/ }).press('Space')
    await page.waitForURL('**status=deployed**')
    await page.goBack()
    await page.waitForURL('**/tasks?project=history')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click()
    await page.locator('h1:focus').getByText('Settings').waitFor()
    await page.getByRole('link', { name: 'Version and health' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Deployments' }).click()
    await page.locator('h1:focus').getByText('Deployments').waitFor()
    expect(await page.evaluate('window.scrollY')).toBe(0)
  })

  test('says what could not be read, and reads it when asked', async () => {
    const { database } = world.service.lines
    database.mood = 'refuse'
    database.cut()
    try {
      await using opened = await open('/tasks?project=history')
      const { page } = opened
      await page.getByRole('heading', { name: 'The deployments could not be read' }).waitFor()
      await page.getByText(/^The service cannot reach its database\. Deployments are not affected\.$/).waitFor()
      await page.getByText('No answer', { exact: true }).waitFor()
      const asked = page.waitForRequest('**/api/v1/tasks?*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await asked
      database.mood = 'well'
      await names(page).first().waitFor()
    } finally {
      database.mood = 'well'
    }
  })

  test('keeps its rows when reads fail, and says how old they are after 20 s', async () => {
    await using line = await startFaultProxy({ port: Number(new URL(world.service.url).port) })
    const url = `http://127.0.0.1:${line.port}`
    await using opened = await world.open(`/tasks?app=checkout-api`, { url, hasClock: true })
    const { page } = opened
    await page.getByText('Live', { exact: true }).waitFor()
    await names(page).first().waitFor()
    const count = await names(page).count()
    line.mood = 'refuse'
    line.cut()
    await page.getByText(/^Not live since/).waitFor()
    await page.clock.fastForward(21_000)
    await page.getByText(/^2\d\ss old$/).waitFor()
    expect(await names(page).count()).toBe(count)

    const took = page.getByRole('row').nth(1).locator('.c-took')
    const stopped = await took.textContent()
    await page.clock.fastForward(30_000)
    await page.getByText(/^5\d\ss old$/).waitFor()
    expect(await took.textContent()).toBe(stopped)

    line.mood = 'well'
    await page.getByRole('button', { name: 'Try now' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.getByText(/^Not live since/).count()).toBe(0)
  })
})

describe('the page of a deployment', () => {
  test('stops its clocks where it was last told while reads fail', async () => {
    await using line = await startFaultProxy({ port: Number(new URL(world.service.url).port) })
    const url = `http://127.0.0.1:${line.port}`
    world.hold('too-slow', 'never-ready', 'v0')
    const id = await world.deploy('too-slow', 'v2')
    await using opened = await world.open(`/task/${id}`, { url, hasClock: true })
    const { page } = opened
    await page.getByText('Live', { exact: true }).waitFor()
    const elapsed = page.getByRole('timer', { name: 'Elapsed' })
    await elapsed.getByText(/^[5-9]\ss$/).waitFor()
    line.mood = 'refuse'
    line.cut()
    await page.getByText(/^Not live since/).waitFor()
    await page.clock.fastForward(21_000)
    await page.getByText(/^\d\d\ss old$/).waitFor()
    expect(await elapsed.textContent()).toMatch(/^[5-9]\ss$/)
  })

  test.for([
    ['waiting', 'checkout-api v2 in progress', /is not ready: readiness probe/, 'Waiting at gate 5 of 6'],
    ['failed', '✕ preferences v2 failed', /crashes on start/, 'Stopped at gate 5 of 6'],
    ['deployed', '✓ payments-worker v2 deployed', /^Deployed in /, 'All 6 gates passed'],
    ['cancelled', 'search v2 cancelled', causes.superseded.headline, 'At least . of 6 gates passed'],
    [
      'aborted',
      '✕ ledger v1 aborted',
      /^The outcome is not confirmed|^The outcome could not be confirmed/,
      'At least 1 of 6 gates passed',
    ],
    [
      'missing',
      'preferencse v1 app not found',
      'Argo CD has no application “preferencse”. Did you mean preferences?',
      'Ended at gate 1 of 6',
    ],
  ] as const)('of a task that is %s says so first', async ([name, title, headline, gates]) => {
    await using opened = await open(`/task/${tasks[name]}`)
    const { page, complaints, outside } = opened
    await page.getByRole('heading', { level: 2, name: headline }).waitFor()
    await page.getByRole('list', { name: new RegExp(`^Gates: ${gates}`) }).waitFor()
    expect(await page.title()).toBe(`${title} · Deployment Watcher`)
    const hasReport = !['waiting', 'deployed'].includes(name)
    expect(await page.getByRole('button', { name: 'Copy report' }).count()).toBe(hasReport ? 1 : 0)
    expect(await page.getByText('Follow from a terminal').count()).toBe(name === 'waiting' ? 1 : 0)
    expect({ complaints, outside }).toEqual(quiet)
  })

  test('links commit, repository and Argo CD, and gives the command to follow it', async () => {
    const {
      commit = '',
      repository,
      app_url,
    } = await world.service.waitForTask(tasks.waiting, (task) => task.commit !== undefined)
    await using opened = await open(`/task/${tasks.waiting}`)
    const { page } = opened
    const href = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href')
    expect(await href(commit.slice(0, 7))).toBe(`https://git.example/gitops/commit/${commit}`)
    expect(await href('Argo CD')).toBe(app_url)
    await page
      .getByRole('region', { name: 'Destination' })
      .getByText(repository?.replace(/^.*\//, '').replace('.git', '') ?? '')
      .first()
      .waitFor()
    await page.getByText(`curl --fail-with-body "${world.service.url}/api/v1/tasks/${tasks.waiting}?wait=50"`).waitFor()
  })

  test('of a failed task holds the whole report and copies it', async () => {
    await using opened = await open(`/task/${tasks.failed}`)
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'View report' }).click()
    const report = page.getByRole('dialog', { name: 'Report' })
    await report.waitFor()
    const text = await report.textContent()
    await page.keyboard.press('Escape')
    await page.keyboard.press('c')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(text)
    const { status_reason } = await world.service.waitForEnd(tasks.failed)
    expect(copied).toContain(status_reason)
  })

  test('shows the end without a reload, and tells it at once to the ear', async () => {
    world.hold('too-slow', 'never-ready', 'v0')
    const id = await world.deploy('too-slow', 'v1', { timeout: 20 })
    await using opened = await open(`/task/${id}`)
    const { page } = opened
    await page.getByText('In progress').first().waitFor()
    await page
      .getByRole('alert')
      .getByText(/^Failed\. .* is not ready: readiness probe/)
      .waitFor()
    await page.getByText('Failed', { exact: true }).first().waitFor()
  })

  test('tells its timeline in six rows: a gate opens its own, whose steps are behind it', async () => {
    await using opened = await open(`/task/${tasks.deployed}`)
    const { page } = opened
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('Argo CD compares at').waitFor()
    expect(await timeline.locator('details').count()).toBe(6)
    expect(await timeline.locator('details[open]').count()).toBe(0)
    await page
      .getByRole('list', { name: /^Gates/ })
      .getByRole('link', { name: 'Synced' })
      .click()
    // What Argo CD showed at one time is one step, so the operation may stand behind the sync status.
    await timeline
      .locator('.steps')
      .getByText(/sync operation/i)
      .last()
      .waitFor()
    expect(await timeline.locator('details[open]').count()).toBe(1)
  })

  test('of a failed one shows the events of its Pod as a table', async () => {
    await using opened = await open(`/task/${tasks.failed}`)
    const events = opened.page.getByRole('table', { name: /^Events of Pod preferences/ })
    await events.waitFor()
    expect(await events.getByRole('columnheader').allTextContents()).toEqual(['Reason', 'Message', 'Times', 'Last'])
    expect(await events.getByRole('row').filter({ hasText: 'BackOff' }).locator('td').nth(1).textContent()).toMatch(
      /^\d+$/,
    )
  })

  test('compares versions, and links a project that is an address and the commit of its source', async () => {
    const repository = 'https://github.com/acme/shop'
    const ship = (tag: string, sha: string) =>
      world.deploy('newcomer', tag, { project: 'https://shop.example/', source: { repository, sha } })
    await world.service.waitForEnd(await ship('v8', '8f3a2c1'))
    const id = await ship('v9', '4f3c1d2')
    await world.service.waitForEnd(id)
    await using opened = await open(`/task/${id}`)
    const { page } = opened
    await page
      .locator('.by')
      .filter({ hasText: /v8.*v9/ })
      .waitFor()
    const href = (name: string) => page.getByRole('link', { name }).first().getAttribute('href')
    expect(await href('https://shop.example/')).toBe('https://shop.example/')
    expect(await href('acme/shop@4f3c1d2')).toBe(`${repository}/commit/4f3c1d2`)
    expect(await href('Compare')).toBe(`${repository}/compare/8f3a2c1...4f3c1d2`)
  })

  test('shows its times in the zone of the device', async () => {
    await using opened = await open(`/task/${tasks.failed}`)
    const { page } = opened
    const context = await world.browser.newContext({ locale: 'en-GB', timezoneId: 'Asia/Tokyo' })
    const local = await context.newPage()
    await local.goto(page.url())
    await local.getByRole('banner').getByLabel('Time zone').getByText('Tokyo, UTC+9').waitFor({ state: 'attached' })
    const gateOf = (one: Page) =>
      one
        .getByRole('list', { name: /^Gates/ })
        .getByRole('time')
        .first()
        .textContent()
    const later = minutesOf(await gateOf(local)) - minutesOf(await gateOf(page))
    expect((later + 24 * 60) % (24 * 60)).toBe(9 * 60)
    expect(await gateOf(local)).toMatch(/\d\d:\d\d:\d\d$/)
    await local.getByRole('banner').getByLabel('Time zone').selectOption('UTC')
    await expect.poll(() => gateOf(local)).toMatch(/\d\d:\d\d:\d\d\sUTC$/)
    await context.close()
  })

  test('of an unknown id says so inside the frame', async () => {
    await using opened = await open('/task/no%20such%3Ctask%3E')
    await opened.page.getByRole('heading', { name: 'Deployment no such<task> not found' }).waitFor()
    await opened.page.getByRole('link', { name: 'All deployments' }).click()
    await names(opened.page).first().waitFor()
  })
})

describe('a part that fails', () => {
  test('names what could not be read, and the rest is shown', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    for (const part of ['history?*', 'status', `tasks/*/events?*`])
      await page.route(`**/api/v1/${part}`, (route) => route.fulfill({ status: 503, json: { error: 'away' } }))
    await page.goto(`${world.service.url}/`)
    for (const what of ['Today', 'The state of Argo CD'])
      await page.getByRole('heading', { name: `${what} could not be read` }).waitFor()
    await page.getByRole('region', { name: 'Applications' }).waitFor()
    await page.goto(`${world.service.url}/task/${tasks.failed}`)
    await page.getByRole('heading', { name: 'The timeline could not be read' }).waitFor()
    await page.getByRole('heading', { level: 2, name: /crashes on start/ }).waitFor()
  })

  test('is Argo CD: since when counts from its first second on, and why is said once', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    await page.route('**/api/v1/status', async (route) => {
      const status = await (await route.fetch()).json()
      const unreachable_since = Date.now() / 1000 + 60 // by the clock of the service
      await route.fulfill({
        json: { ...status, argo_cd: { status: 'down', detail: 'connection reset', unreachable_since } },
      })
    })
    await page.goto(`${world.service.url}/`)
    await page
      .getByRole('region', { name: 'Argo CD' })
      .getByText('Unreachable. Connection reset.', { exact: true })
      .waitFor()
  })

  test('of the actions says that the session could not be read', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    await page.route('**/api/v1/session', (route) => route.fulfill({ status: 503, json: { error: 'away' } }))
    for (const path of [`/task/${tasks.failed}`, '/lock']) {
      await page.goto(world.service.url + path)
      await page.getByText('Who is signed in could not be read. The page tries again.').first().waitFor()
    }
  })

  test('is a chart whose library is gone after an upgrade: its table stays', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    await page.route('**/assets/uPlot*', (route) => route.fulfill({ status: 404, body: '' }))
    await page.goto(`${world.service.url}/history`)
    await page.getByText('The chart could not be loaded. Reload the page.').nth(2).waitFor() // there is no lead time to draw
    await page.getByText('Show as a table').first().click()
    await page.getByRole('table', { name: 'Deployments a day' }).waitFor()
  })

  test('is a page that meets unknown data: the bar stays and leads on', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    await page.route(`**/api/v1/tasks/${tasks.failed}`, (route) => route.fulfill({ json: { images: 1 } }))
    await page.goto(`${world.service.url}/task/${tasks.failed}`)
    await page.getByRole('heading', { name: 'This page could not be drawn' }).waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Deployments' }).click()
    await names(page).first().waitFor()
  })

  test('is a copy on plain http: the button says so', async () => {
    await using opened = await open('/nowhere')
    const { page } = opened
    await page.addInitScript('delete Navigator.prototype.clipboard')
    await page.goto(`${world.service.url}/task/${tasks.waiting}`)
    await page.getByRole('button', { name: 'Copy the command', exact: true }).click()
    await page
      .getByRole('region', { name: 'Follow from a terminal' })
      .getByRole('button')
      .getByText('Copy failed', { exact: true })
      .waitFor()
  })
})

test('any other address is not found, inside the frame', async () => {
  await using opened = await open('/lock/nowhere')
  await opened.page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  await opened.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Deployments' }).click()
  await names(opened.page).first().waitFor()
})
