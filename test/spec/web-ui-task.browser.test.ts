import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskList, type TaskRecord } from '../../contract/task.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { launchBrowser, type OpenedPage, type OpenOptions, openPage } from '../support/browser.ts'
import { createHttpBrowser, type HttpBrowser } from '../support/http-browser.ts'
import { reserveIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { startWorld, type World } from '../support/world.ts'

const users = { ada: ['platform'], bob: ['guests'] }
type UserName = keyof typeof users

let idp: TestIdentityProvider
let world: World
let browser: Browser
const signedIn = new Map<UserName, HttpBrowser>()

beforeAll(async () => {
  idp = await reserveIdentityProvider()
  world = await startWorld({
    applications: ['shop', 'crashing', 'pulling', 'waiting', 'again', 'mistyped', 'replaced', 'gone', 'shared'],
    mayReadLogs: true,
    settings: {
      ...idp.settings,
      IDP_PRIVILEGED_GROUPS: 'platform',
      POD_LOG_LINES: '20',
      BAD_POD_GRACE: '1',
      GIT_WEB_URLS: '127.0.0.1=https://git.example/{path}/commit/{sha}',
    },
  })
  await idp.start(world.service.url)
  for (const user of Object.keys(users) as UserName[]) {
    idp.users.set(user, { preferred_username: user, groups: users[user] })
    const one = createHttpBrowser()
    await one.signIn(world.service.url, user)
    signedIn.set(user, one)
  }
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
  await idp?.[Symbol.asyncDispose]()
})

/** A page, in a browser in which a user has signed in. */
const open = (path: string, user?: UserName, options?: OpenOptions): Promise<OpenedPage> => {
  const cookies = user && signedIn.get(user)?.cookies(world.service.url)
  return openPage(browser, world.service.url, path, { ...options, cookies })
}

const change = (path: string, method: string, body?: unknown) =>
  signedIn.get('ada')?.change(world.service.url, `/api/v1${path}`, method, body)

const hold = (app: string, newPods: 'never-ready' | 'crashes' | 'image-pull-error', ...except: readonly string[]) =>
  world.simulator.control.overridePods(app, { newPods, except: except.map((tag) => `registry.example/${app}:${tag}`) })

async function deployed(app: string, tag: string): Promise<TaskRecord> {
  const task = await world.service.waitForEnd(await world.deploy(app, tag))
  expect(task.status).toBe('deployed')
  return task
}

async function tasksOf(app: string): Promise<readonly TaskRecord[]> {
  const { body } = await world.service.request(`/api/v1/tasks?app=${app}`)
  return TaskList.parse(body).tasks
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const quiet = { complaints: [], outside: [] }

test('a rollout is drawn as it happens: its Pods, its timeline, the time of each gate, what it replaces (spec 1.6)', async () => {
  const before = await deployed('shop', 'v2')
  world.simulator.controller.setTimes({ podReady: [8_000, 9_000] })
  const id = await world.deploy('shop', 'v3')
  await using opened = await open(`/task/${id}`)
  const { page, complaints, outside } = opened
  await page.getByRole('heading', { level: 2, name: '0 of 1 Pod ready' }).waitFor()
  await page.getByRole('img', { name: 'Pods: 1 starting, 2 old' }).waitFor()
  await page.getByText('The old version still serves: 2 of 2 Pods ready.').waitFor()
  await page.getByText(/^usually .+ times out at/).waitFor()
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText('From ada').waitFor()
  await timeline.locator('.now details[open]').getByText('0 of 1 Pod ready').waitFor()
  const commit = page.getByRole('link', { name: (await world.service.getTask(id)).commit?.slice(0, 7) ?? '' })
  expect(await commit.getAttribute('href')).toMatch(/^https:\/\/git\.example\/gitops\/commit\/[0-9a-f]{40}$/)
  const destination = page.getByRole('region', { name: 'Destination' })
  await destination.getByText('apps/shop/.argocd-source-shop.yaml').waitFor()
  expect(await page.getByRole('link', { name: 'v2', exact: true }).getAttribute('href')).toBe(`/task/${before.id}`)
  world.simulator.controller.setTimes({ podReady: fastTimes.podReady })
  await page.getByRole('heading', { level: 2, name: /^Deployed in/ }).waitFor()
  await timeline.getByText(/^Deployed in/).waitFor()
  expect(await timeline.locator('details[open]').count()).toBe(0)
  const gates = page.getByRole('list', { name: 'Gates: All 6 gates passed' }).getByRole('listitem')
  expect(await gates.locator('.at').allTextContents()).toEqual(Array(6).fill(expect.stringMatching(/^\d\d:\d\d:\d\d/)))
  expect(await gates.locator('.took').allTextContents()).toEqual(Array(5).fill(expect.stringMatching(/\ss$/)))
  expect({ complaints, outside }).toEqual(quiet)
})

test('a gate that was passed keeps its time when another commit comes to the branch', async () => {
  hold('shared', 'never-ready', 'v0')
  const id = await world.deploy('shared', 'v2')
  const revisionOf = ({ diagnosis }: TaskRecord) => diagnosis?.conditions.find(({ name }) => name === 'revision')
  const before = await world.service.waitForTask(id, ({ unmet_condition: unmet }) => unmet === 'healthy')
  await using opened = await open(`/task/${id}`)
  const { page } = opened
  const gates = page.getByRole('list', { name: 'Gates: Waiting at gate 5 of 6: Healthy' }).getByRole('listitem')
  await gates.getByText(/^for [2-9]\ss$/).waitFor()
  const timesOf = () => gates.locator('.at time').allTextContents()
  await expect.poll(timesOf).toHaveLength(5)
  const times = await timesOf()
  await world.simulator.git.commit('gitops', { 'notes.md': 'of another application' })
  world.simulator.controller.refreshNow({ name: 'shared', namespace: 'argocd' }, 3)
  await world.service.waitForTask(id, (task) => (revisionOf(task)?.since ?? 0) > (revisionOf(before)?.since ?? 0) + 1)
  await page.reload()
  await gates.getByText(/^for \d+\ss$/).waitFor()
  await expect.poll(timesOf).toEqual(times)
  await page.route(`**/api/v1/tasks/${id}`, async (route) => {
    const task: TaskRecord = await (await route.fetch()).json()
    const revision = revisionOf(task)
    if (revision) revision.state = 'unknown' // its ancestry is being looked up
    await route.fulfill({ json: task })
  })
  await page.reload()
  await gates.getByText(/^for \d+\ss$/).waitFor()
  await expect.poll(timesOf).toEqual(times)
})

test('an image whose name is written from right to left keeps name and tag apart in the timeline', async () => {
  const reference = { image: 'registry.example/\u05d7\u05e0\u05d5\u05ea', tag: '\u05d2\u05e8\u05e1\u05d4-1' }
  await using opened = await open(`/task/${await world.announce('shop', '', { images: [reference] })}`)
  const { page } = opened
  const accepted = page.getByRole('region', { name: 'Timeline' }).locator('details').first()
  await accepted.locator('bdi').first().waitFor({ state: 'attached' })
  expect(await accepted.locator('bdi').allTextContents()).toEqual(
    expect.arrayContaining([reference.image, reference.tag]),
  )
})

describe('a failed task', () => {
  let failed: TaskRecord
  beforeAll(async () => {
    await deployed('crashing', 'v2')
    hold('crashing', 'crashes', 'v0', 'v1', 'v2')
    failed = await world.service.waitForEnd(await world.deploy('crashing', 'v3'))
  })

  test('names the culprit, says that the old version serves, and marks the most relevant line of the log', async () => {
    await using opened = await open(`/task/${failed.id}`, 'ada')
    const { page } = opened
    await page.getByRole('heading', { level: 2, name: /crashes on start/ }).waitFor()
    await page.getByText('The old version still serves: 2 of 2 Pods ready.').waitFor()
    await page
      .getByRole('definition')
      .getByText(failed.diagnosis?.culprit?.name ?? '')
      .waitFor()
    await page.locator('.log .hit').getByText('fatal: the process ends with exit code 1').waitFor()
    await page.getByRole('heading', { name: 'What to do' }).waitFor()
    expect(await page.locator('.verdict [popover] code').textContent()).not.toContain('fatal:')
    expect(opened.complaints).toEqual([])
  })

  test('signed out, offers its actions dashed, with the reason and a command that a shell takes as it stands', async () => {
    await using opened = await open(`/task/${failed.id}`)
    const { page } = opened
    const back = button(page, 'Roll back to v2')
    await back.waitFor()
    expect(await back.getAttribute('aria-disabled')).toBe('true')
    const why = await back.getAttribute('aria-describedby')
    expect(await page.locator(`#${why}`).textContent()).toContain('Sign in to change deployments.')
    const signIn = page.getByRole('main').getByRole('link', { name: 'Sign in' })
    expect(await signIn.getAttribute('href')).toBe(`/auth/login?return=%2Ftask%2F${failed.id}`)
    await back.click({ force: true })
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByText('Roll back to v2 from a terminal').click()
    await page.getByText(`"tag":"v2"`).waitFor()
    await page.getByText(/^Sign in to see the log of/).waitFor()
  })

  test('whose image cannot be pulled speaks of no log, and gives the message of the kubelet once, in a short page', async () => {
    await deployed('pulling', 'v2')
    hold('pulling', 'image-pull-error', 'v0', 'v1', 'v2')
    const { id } = await world.service.waitForEnd(await world.deploy('pulling', 'v3'))
    for (const user of [undefined, 'ada'] as const) {
      await using opened = await open(`/task/${id}`, user)
      const { page } = opened
      await page.getByRole('heading', { level: 2, name: /cannot be pulled/ }).waitFor()
      const events = page.getByRole('table', { name: /^Events of Pod/ })
      await events.getByText('The message above').waitFor()
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      const words = await page.getByRole('main').innerText()
      expect(words.match(/failed to resolve reference/g)).toHaveLength(1)
      expect(words).not.toMatch(/\blogs?\b|POD_LOG_LINES/)
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(1_500)
    }
  })

  test('says to a user in other groups who may act', async () => {
    await using opened = await open(`/task/${failed.id}`, 'bob')
    await opened.page.getByText('Only members of platform may change deployments.').waitFor()
    expect(await button(opened.page, 'Deploy again').getAttribute('aria-disabled')).toBe('true')
  })

  test('is rolled back to the version before, after one question', async () => {
    await using opened = await open(`/task/${failed.id}`, 'ada')
    const { page } = opened
    await button(page, 'Roll back to v2').click()
    const question = page.getByRole('dialog', { name: 'Roll back to v2?' })
    await question.getByRole('button', { name: 'Keep this version' }).click()
    await page.locator('button:focus').getByText('Roll back to v2').waitFor()
    expect(await tasksOf('crashing')).toHaveLength(2)
    await button(page, 'Roll back to v2').click()
    await question.getByRole('button', { name: 'Roll back to v2' }).click()
    await page.waitForURL((url) => !url.href.endsWith(failed.id))
    const [task] = await tasksOf('crashing')
    expect(page.url()).toBe(`${world.service.url}/task/${task?.id}`)
    expect(task).toMatchObject({ author: 'ada', images: [{ tag: 'v2' }], is_rollback: true })
    expect((await world.service.waitForEnd(task?.id ?? '')).commit).toBeDefined()
    await page.goto(`${world.service.url}/tasks?app=crashing`)
    await page.getByRole('row').nth(1).getByText('Rollback', { exact: true }).waitFor()
    expect(opened.complaints).toEqual([])
  })
})

test('a deployment is cancelled after one question that says what stays; the page names who did it', async () => {
  hold('waiting', 'never-ready', 'v0', 'v1')
  const id = await world.deploy('waiting', 'v2')
  const { commit = '' } = await world.service.waitForTask(id, ({ unmet_condition: unmet }) => unmet === 'healthy')
  await using opened = await open(`/task/${id}`, 'ada')
  const { page } = opened
  const cancel = button(page, 'Cancel deployment')
  await page.getByText(commit.slice(0, 7)).first().waitFor()
  await cancel.click()
  const question = page.getByRole('dialog', { name: 'Cancel this deployment?' })
  await question.getByText(`Commit ${commit.slice(0, 7)} stays on main, so Argo CD still rolls it out.`).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('button:focus').getByText('Cancel deployment').waitFor()
  expect((await world.service.getTask(id)).status).toBe('in progress')
  await cancel.click()
  await question.getByRole('button', { name: 'Cancel deployment' }).click()
  await page.getByRole('heading', { level: 2, name: 'Cancelled on request' }).waitFor()
  await page.getByRole('list', { name: 'Gates: At least 4 of 6 gates passed' }).waitFor()
  await page.getByRole('definition').getByText('ada', { exact: true }).first().waitFor()
  expect((await world.service.getTask(id)).diagnosis).toMatchObject({ cancelled_by: { kind: 'session', name: 'ada' } })
  expect(opened.complaints).toEqual([])
})

test('however often "Deploy again" is pressed, it is one task; it bears the header and a key', async () => {
  const first = await deployed('again', 'v2')
  await change(`/tasks/${await world.deploy('again', 'v3')}`, 'DELETE')
  const [cancelled] = await tasksOf('again')
  await using opened = await open(`/task/${cancelled?.id}`, 'ada')
  const { page } = opened
  const sent: string[] = []
  let answered = 0
  // The first answer is lost on its way, as by a cut connection: the task was accepted all the same.
  await page.route('**/api/v1/tasks', async (route) => {
    const { 'x-watcher-csrf': csrf, 'idempotency-key': key } = route.request().headers()
    sent.push(`${csrf} ${key}`)
    const response = await route.fetch()
    answered += 1
    return answered === 1 ? route.abort() : route.fulfill({ response })
  })
  const again = page.getByRole('dialog', { name: 'v2 was deployed last. Deploy v3 in its place?' })
  await button(page, 'Deploy again').click()
  await again.getByRole('button', { name: 'Deploy again' }).click()
  await page.getByText('Deploy again: the service did not answer.').waitFor()
  await button(page, 'Deploy again').click()
  // By now the page may know of the task that was accepted, and ask otherwise.
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Deploy again' })
  await confirm.evaluate((button: { click: () => void }) => {
    button.click()
    button.click()
  })
  await page.waitForURL((url) => !url.href.endsWith(cancelled?.id ?? ''))
  await page.unrouteAll({ behavior: 'wait' }) // the second press of the two may still be on its way
  expect(sent.length).toBeGreaterThanOrEqual(2)
  expect(new Set(sent).size).toBe(1)
  expect(sent[0]).toMatch(/^1 [0-9a-f-]{20,}$/)
  const [newest, ...others] = await tasksOf('again')
  expect(newest?.images).toEqual([{ image: 'registry.example/again', tag: 'v3' }])
  expect(others.map(({ id }) => id)).toEqual([cancelled?.id, first.id])
})

describe('a refusal stands beside the button in the words of the page', () => {
  test('where the task has ended meanwhile', async () => {
    hold('gone', 'never-ready', 'v0', 'v1')
    const id = await world.deploy('gone', 'v2')
    const running = await world.service.getTask(id)
    await using opened = await open(`/task/${id}`, 'ada')
    const { page } = opened
    // The page does not learn of it before its button is pressed.
    await page.route('**/api/v1/events*', (route) => route.abort())
    await page.route(`**/api/v1/tasks/${id}`, async (route) =>
      route.request().method() === 'GET' ? route.fulfill({ json: running }) : route.continue(),
    )
    await page.reload()
    await button(page, 'Cancel deployment').click()
    await change(`/tasks/${id}`, 'DELETE')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel deployment' }).click()
    await page.getByRole('alert').getByText('Cancel deployment: it has ended or changed meanwhile.').waitFor()
    await page.unroute(`**/api/v1/tasks/${id}`)
    await page.getByRole('heading', { level: 2, name: 'Cancelled on request' }).waitFor()
    await page.getByRole('alert').getByText('Cancel deployment: it has ended or changed meanwhile.').waitFor()
  })

  test('where one has signed out in another tab, and nothing is submitted without a credential', async () => {
    const { id } = await deployed('replaced', 'v2')
    await deployed('replaced', 'v3')
    await using opened = await open(`/task/${id}`, 'ada')
    const { page } = opened
    await button(page, 'Roll back to this version').click()
    await page.context().clearCookies()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back to this version' }).click()
    await page.getByRole('alert').getByText('your session has ended, sign in again').waitFor()
    await page.getByText('Sign in to change deployments.').waitFor()
    expect(await tasksOf('replaced')).toHaveLength(2)
  })
})

test('a task of a name that Argo CD does not know offers those like it', async () => {
  await deployed('mistyped', 'v2')
  const { id } = await world.service.waitForEnd(await world.announce('mistypde', 'v1'))
  await using opened = await open(`/task/${id}`)
  const link = opened.page.getByRole('link', { name: 'mistyped', exact: true })
  await link.waitFor()
  expect(await link.getAttribute('href')).toBe('/tasks?app=mistyped')
})

describe('without an identity provider', () => {
  test('the actions name the setting that they need', async () => {
    await using plain = await startWorld()
    const { id } = await plain.service.waitForEnd(await plain.deploy('shop', 'v2'))
    await plain.service.waitForEnd(await plain.deploy('shop', 'v3'))
    await using opened = await openPage(browser, plain.service.url, `/task/${id}`)
    const { page, complaints } = opened
    await page.getByText('This needs sign-in. Set up an identity provider').waitFor()
    expect(await button(page, 'Roll back to this version').getAttribute('aria-disabled')).toBe('true')
    expect(complaints).toEqual([])
  })
})
