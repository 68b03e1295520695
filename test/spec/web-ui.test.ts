import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { causes } from '../../contract/causes.ts'
import type { TaskRecord } from '../../contract/task.ts'
import { aDiagnosis, aTask } from '../../web/src/deployments/a-task.ts'
import { launchBrowser, type OpenOptions, openPage } from '../support/browser.ts'
import { type ServiceForBrowser, startServiceForBrowser } from '../support/service-for-browser.ts'

const now = Math.floor(Date.now() / 1000)
const links = {
  commit: '4be19d0aa11',
  repository: 'https://git.example/shop/deployments.git',
  branch: 'main',
  app_url: 'https://argocd.example/applications/argocd/checkout-api',
  commit_url: 'https://git.example/shop/deployments/commit/4be19d0aa11',
}
const ended = { created: now - 900, updated: now - 739 }

const one = {
  waiting: aTask({
    id: 'waiting',
    unmet_condition: 'healthy',
    app: 'checkout-api',
    created: now - 72,
    timeout: 900,
    progress: 'Waiting for 2 more Pods to become ready',
    ...links,
  }),
  failed: aTask({
    id: 'failed',
    app: 'preferences',
    author: 'comms-ci',
    status: 'failed',
    cause: 'crash_loop',
    unmet_condition: 'healthy',
    diagnosis: aDiagnosis({
      culprit: { kind: 'Pod', namespace: 'comms', name: 'preferences-7d9c', container: 'app', message: 'back-off 40s' },
    }),
    status_reason: 'Container app crashes\nMessage: back-off 40s',
    pod_log: { pod: 'preferences-7d9c', lines: ['reading the settings', 'fatal: <b>no</b> database'] },
    ...ended,
    ...links,
  }),
  deployed: aTask({ id: 'deployed', app: 'payments-worker', project: 'pay', status: 'deployed', ...ended, ...links }),
  cancelled: aTask({
    id: 'cancelled',
    status: 'cancelled',
    cause: 'superseded',
    status_reason: 'superseded by task 1',
    ...ended,
  }),
  aborted: aTask({ id: 'aborted', status: 'aborted', cause: 'controller_unreachable', ...ended }),
  missing: aTask({ id: 'missing', app: 'inventroy', status: 'app not found', cause: 'app_not_found', ...ended }),
}
const allTasks: readonly TaskRecord[] = Object.values(one)

let service: ServiceForBrowser
let browser: Browser
beforeAll(async () => {
  service = await startServiceForBrowser(allTasks)
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  service.tasks = [...allTasks]
  service.isDown = false
})

const open = (path: string, options?: OpenOptions) => openPage(browser, service.baseUrl, path, options)

const names = (page: Page) => page.getByRole('rowheader').getByRole('link')
const addressOf = (page: Page) => page.url().replace(service.baseUrl, '')

describe('the task list', () => {
  test('shows a row for each task with its status in words, its tag and its cause', async () => {
    await using opened = await open('/tasks')
    const { page, complaints, outside } = opened
    await names(page).first().waitFor()
    expect(await names(page).allTextContents()).toEqual(allTasks.map(({ app }) => app))
    const failed = page.getByRole('row').filter({ hasText: 'preferences' })
    await failed.getByText(causes.crash_loop.headline).waitFor()
    await failed.getByText('v1.2.3').waitFor()
    await failed.getByRole('img', { name: 'Stopped at gate 5 of 6: Healthy' }).waitFor()
    await page.getByText('1–6 of 6, newest first').waitFor()
    expect(await page.title()).toBe('Tasks · Deployment Watcher')
    expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
  })

  test('is where the bare address leads for now', async () => {
    await using opened = await open('/')
    await opened.page.waitForURL('**/tasks')
    await names(opened.page).first().waitFor()
  })

  test('takes the focus to its heading when one comes from another page', async () => {
    await using opened = await open('/task/failed')
    await opened.page.getByRole('link', { name: 'Deployment Watcher' }).click()
    await opened.page.locator('h1:focus').getByText('Tasks').waitFor()
    expect(addressOf(opened.page)).toBe('/tasks')
  })

  test('puts a filter into the address under the name the API has, and takes it from there', async () => {
    await using opened = await open('/tasks?project=shop')
    const { page } = opened
    await page.getByRole('radio', { name: 'Failed' }).check({ force: true })
    await page.waitForURL('**/tasks?status=failed&project=shop')
    await page.getByText('1–1 of 1').waitFor()
    await page.getByLabel('Application').fill('preferences')
    await page.waitForURL('**/tasks?status=failed&app=preferences&project=shop')
    await page.getByLabel('Search').fill('nothing like it')
    await page.getByRole('heading', { name: /^No failed task of preferences in project shop with/ }).waitFor()
    await page.getByRole('link', { name: 'Clear all filters' }).click()
    await page.getByText('1–6 of 6').waitFor()
    expect(addressOf(page)).toBe('/tasks')
    await page.goBack()
    await page.getByRole('heading', { name: /^No failed task/ }).waitFor()
    expect(await page.getByLabel('Application').inputValue()).toBe('preferences')
  })

  test('turns pages by limit and offset', async () => {
    service.tasks = Array.from({ length: 120 }, (_, index) => aTask({ id: `n${index}`, app: `app-${index}`, ...ended }))
    await using opened = await open('/tasks')
    const { page } = opened
    await page.getByText('1–50 of 120').waitFor()
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('51–100 of 120').waitFor()
    expect(await names(page).first().textContent()).toBe('app-50')
    expect(addressOf(page)).toBe('/tasks?offset=50')
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByText('101–120 of 120').waitFor()
    expect(await page.getByRole('button', { name: 'Older' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('link', { name: 'Newer' }).click()
    await page.getByText('51–100 of 120').waitFor()
  })

  test('keeps rows in their places: a new task waits, a change is shown where it stands', async () => {
    await using opened = await open('/tasks')
    const { page } = opened
    await names(page).first().waitFor()
    service.tasks = [
      aTask({ id: 'new', app: 'brand-new', created: now }),
      { ...one.waiting, status: 'deployed', updated: now },
      ...allTasks.slice(1),
    ]
    await page.getByRole('button', { name: '1 new task' }).waitFor()
    expect(await names(page).first().textContent()).toBe('checkout-api')
    await page.getByRole('row').nth(1).getByText('Deployed', { exact: true }).waitFor()
    await page.keyboard.press('.')
    await names(page).getByText('brand-new').waitFor()
    expect(await names(page).first().textContent()).toBe('brand-new')
  })

  test('follows an unfinished row that its filter no longer holds until it has ended', async () => {
    await using opened = await open('/tasks?status=in%20progress')
    const { page } = opened
    await names(page).first().waitFor()
    service.tasks = [{ ...one.waiting, status: 'failed', cause: 'timeout', updated: now }, ...allTasks.slice(1)]
    await page.getByRole('row').nth(1).getByText('Failed', { exact: true }).waitFor()
    expect(await names(page).allTextContents()).toEqual(['checkout-api'])
  })

  test('is walked with j and k, opened with Enter and searched with /', async () => {
    await using opened = await open('/tasks')
    const { page } = opened
    await names(page).first().waitFor()
    for (const key of ['j', 'j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name: 'preferences' }).waitFor()
    expect(await page.locator('h1:focus').count()).toBe(1)
    await page.keyboard.press('/')
    await page.locator('input[type=search]:focus').waitFor()
    await page.keyboard.type('j/k')
    await page.waitForURL('**/tasks?search=j%2Fk')
  })

  test('is where one left it after going back', async () => {
    service.tasks = Array.from({ length: 50 }, (_, index) => aTask({ id: `n${index}`, app: `app-${index}`, ...ended }))
    await using opened = await open('/tasks')
    const { page } = opened
    await names(page).getByText('app-49').click()
    await page.getByRole('heading', { level: 1, name: 'app-49' }).waitFor()
    expect(await page.evaluate('window.scrollY')).toBe(0)
    await page.goBack()
    await names(page).getByText('app-49').waitFor()
    expect(await page.evaluate('window.scrollY')).toBeGreaterThan(500)
  })

  test('says how to send the first deployment', async () => {
    service.tasks = []
    await using opened = await open('/tasks')
    await opened.page.getByRole('heading', { name: 'No deployment yet' }).waitFor()
    await opened.page.getByText(`curl -sS --fail-with-body ${service.baseUrl}/api/v1/tasks`).waitFor()
  })

  test('says what could not be read, and reads it when asked', async () => {
    service.isDown = true
    await using opened = await open('/tasks')
    await opened.page.getByRole('heading', { name: 'The tasks could not be read' }).waitFor()
    await opened.page.getByText('The service said: the database did not answer within 5 s.').waitFor()
    await opened.page.getByText('No answer', { exact: true }).waitFor()
    service.isDown = false
    await opened.page.getByRole('button', { name: 'Try again' }).click()
    await names(opened.page).first().waitFor()
  })

  test('keeps its rows when reads fail, and says how old they are after 20 s', async () => {
    await using opened = await open('/tasks', { hasClock: true })
    const { page } = opened
    await names(page).first().waitFor()
    service.isDown = true
    await page.waitForResponse((response) => response.status() === 503)
    expect(await page.getByText(/^Not live since/).count()).toBe(0)
    await page.clock.fastForward(21_000)
    await page.getByText(/^Not live since/).waitFor()
    await page.getByText(/^2\d\ss old$/).waitFor()
    expect(await names(page).count()).toBe(6)

    const took = page.getByRole('row').nth(1).locator('.c-took')
    const stopped = await took.textContent()
    await page.clock.fastForward(30_000)
    await page.getByText(/^5\d\ss old$/).waitFor()
    expect(await took.textContent()).toBe(stopped)

    service.isDown = false
    await page.getByRole('button', { name: 'Try now' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.getByText(/^Not live since/).count()).toBe(0)
  })
})

describe('the task page', () => {
  test.for([
    [
      'waiting',
      'checkout-api: in progress',
      'Waiting for 2 more Pods to become ready',
      'Waiting at gate 5 of 6: Healthy',
    ],
    ['failed', 'Failed: preferences', causes.crash_loop.headline, 'Stopped at gate 5 of 6: Healthy'],
  ] as const)('of a task that is %s says so first', async ([id, title, headline, gates]) => {
    await using opened = await open(`/task/${id}`)
    const { page, complaints, outside } = opened
    await page.getByRole('heading', { level: 2, name: headline }).waitFor()
    await page.getByRole('list', { name: `Gates: ${gates}` }).waitFor()
    expect(await page.title()).toBe(`${title} · Deployment Watcher`)
    expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
  })

  test('of a deployed task is one quiet line', async () => {
    await using opened = await open('/task/deployed')
    await opened.page.getByRole('heading', { level: 2, name: 'Deployed in 2 min 41 s' }).waitFor()
    expect(await opened.page.title()).toBe('Deployed: payments-worker · Deployment Watcher')
    expect(await opened.page.getByRole('heading', { name: 'Report as text' }).count()).toBe(0)
  })

  test('links commit, repository and Argo CD, and gives the command to follow it', async () => {
    await using opened = await open('/task/waiting')
    const { page } = opened
    const href = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href')
    expect(await href('4be19d0')).toBe('https://git.example/shop/deployments/commit/4be19d0aa11')
    expect(await href('shop/deployments')).toBe('https://git.example/shop/deployments.git')
    expect(await href('Argo CD')).toBe(links.app_url)
    await page.getByText(`curl --fail-with-body "${service.baseUrl}/api/v1/tasks/waiting?wait=50"`).waitFor()
  })

  test('of a failed task holds the whole report and copies it', async () => {
    await using opened = await open('/task/failed')
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('definition').getByText('preferences-7d9c').waitFor()
    await page.keyboard.press('c')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toBe(await page.locator('#report code').textContent())
    expect(copied).toContain('Container app crashes\nMessage: back-off 40s')
  })

  test('of a failed task shows what its Pod wrote, as plain text, and keeps it out of the report', async () => {
    await using opened = await open('/task/failed')
    const { page } = opened
    const log = page.getByRole('region', { name: 'Log of Pod preferences-7d9c' })
    await log.waitFor()
    expect(await log.getByRole('listitem').allTextContents()).toEqual([
      'reading the settings',
      'Read this first: fatal: <b>no</b> database',
    ])
    expect(await page.locator('#report code').textContent()).not.toContain('fatal')
  })

  test('shows the end without a reload, and tells it at once to the ear', async () => {
    await using opened = await open('/task/waiting')
    const { page } = opened
    await page.getByRole('heading', { name: 'Waiting for 2 more Pods to become ready' }).waitFor()
    service.tasks = [{ ...one.waiting, status: 'failed', cause: 'timeout', updated: now }]
    await page.getByRole('alert').getByText('Failed. The time ran out').waitFor()
    await page.getByRole('heading', { name: 'The time ran out before the rollout was complete' }).waitFor()
  })

  test('can be opened at its report', async () => {
    await using opened = await open('/task/failed#report')
    const report = opened.page.getByRole('heading', { name: 'Report as text' })
    await report.waitFor()
    expect(await opened.page.evaluate('window.scrollY')).toBeGreaterThan(0)
  })

  test('of an unknown id says so inside the frame', async () => {
    await using opened = await open('/task/no%20such%3Ctask%3E')
    await opened.page.getByRole('heading', { name: 'Task no such<task> not found' }).waitFor()
    await opened.page.getByRole('link', { name: 'All tasks' }).click()
    await names(opened.page).first().waitFor()
  })
})

test('any other address is not found, inside the frame', async () => {
  await using opened = await open('/lock/nowhere')
  await opened.page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  await opened.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tasks' }).click()
  await names(opened.page).first().waitFor()
})

describe('what a caller wrote is text and never a link or markup', () => {
  const script = `<img src=x onerror="alert(1)"><script>alert(2)</script>`
  const hostile = aTask({
    id: 'hostile',
    app: script,
    author: script,
    project: 'javascript:alert(3)',
    images: [{ image: script, tag: '"><svg onload=alert(4)>' }],
    status: 'failed',
    status_reason: `${script}\nPod: ${script}`,
    diagnosis: aDiagnosis({
      culprit: { kind: script, namespace: script, name: script, container: script, message: script },
      next_steps: [{ actor: 'developer', text: script }],
      superseded_by: { task: script },
    }),
    repository: 'javascript:alert(5)',
    commit: script,
    branch: script,
    app_url: 'javascript:alert(6)',
    source: { repository: 'javascript:alert(7)', sha: script, url: 'data:text/html,<script>alert(8)</script>' },
    ...ended,
  })

  test.for(['/tasks', '/task/hostile'])('on %s', async (path) => {
    service.tasks = [hostile]
    await using opened = await open(path)
    const { page, complaints, outside } = opened
    await page.getByText(script).first().waitFor()
    await page.getByText('javascript:alert(3)').first().waitFor()
    const addresses = await page.evaluate<string[]>('[...document.links].map((link) => link.href)')
    expect(addresses.filter((address) => !address.startsWith(service.baseUrl))).toEqual([])
    expect(await page.locator('img, #root script, [onerror], [onload]').count()).toBe(0)
    expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
  })
})

describe('accessibility and width', () => {
  const everyPage = ['/tasks', '/tasks?app=none', '/nowhere', ...Object.values(one).map(({ id }) => `/task/${id}`)]
  // What the width changes is the same in both schemes, and a scheme changes colours alone.
  const cases = [
    { scheme: 'light', width: 1440, paths: everyPage },
    { scheme: 'light', width: 390, paths: everyPage },
    { scheme: 'dark', width: 1440, paths: ['/tasks', '/task/waiting', '/task/failed', '/task/deployed'] },
  ] as const

  test.for(cases)(
    'axe finds nothing in the $scheme scheme at $width px, and nothing scrolls sideways',
    async ({ paths, ...options }) => {
      for (const path of paths) {
        await using opened = await open(path, options)
        await opened.page.locator('table, .empty').first().waitFor()
        // The pages have no frames; without them axe needs no page of its own, and half the time.
        const { violations } = await new AxeBuilder({ page: opened.page })
          .setLegacyMode()
          .options({ rules: { 'target-size': { enabled: true } } })
          .analyze()
        const found = violations.map(({ id, nodes }) => `${path}: ${id} ${nodes.map(({ html }) => html).join(' ')}`)
        expect(found).toEqual([])
        expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      }
    },
  )

  test('a name of 255 unbroken characters fits into 320 px', async () => {
    const long = 'x'.repeat(255)
    service.tasks = [
      aTask({ id: 'long', app: long, author: long, project: long, images: [{ image: long, tag: long }] }),
    ]
    for (const path of ['/tasks', '/task/long']) {
      await using opened = await open(path, { width: 320 })
      await opened.page.locator('h1, a.name').filter({ hasText: long }).waitFor()
      expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    }
  })
})
