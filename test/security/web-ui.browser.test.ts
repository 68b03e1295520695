import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Diagnosis } from '../../contract/diagnosis.ts'
import { launchBrowser, openPage } from '../support/browser.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World } from '../support/world.ts'
import { xssPayloads } from './xss-payloads.ts'

let browser: Browser
let world: World
let ada: HttpBrowser
let ids: readonly string[]
beforeAll(async () => {
  browser = await launchBrowser()
  world = await startWorld({ parts: ['provider'], settings: { IDP_PRIVILEGED_GROUPS: 'oncall', POD_LOG_LINES: '20' } })
  ada = await world.signedIn('ada', ['oncall'])
  ids = await Promise.all(xssPayloads.map(submit))
  for (const [index, id] of ids.entries()) await end(id, xssPayloads[index] ?? '')
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

/** An image whose Pods are told from others, whatever the payload is. */
const known = { image: 'registry.example/known', tag: 'v1' }

/** A task with the payload in every field; where an application's name may not hold it, another stands there. */
async function submit(payload: string, index: number): Promise<string> {
  const source = { repository: payload, sha: payload, url: payload }
  const images = [{ image: payload, tag: payload }, known]
  const fields = { author: payload, project: payload, images, source }
  const named = await world.service.submitTask(aTask({ ...fields, app: payload }))
  const answer =
    named.status === 202 ? named : await world.service.submitTask(aTask({ ...fields, app: `bad-${index}` }))
  return z.object({ id: z.string() }).parse(answer.body).id
}

/** The payload in every text of its end, its events and its log, and in the task before it. */
async function end(id: string, payload: string): Promise<void> {
  const pod = { namespace: payload, name: payload }
  const diagnosis: Diagnosis = {
    conditions: [{ name: 'images', state: 'not_met', since: 1, expected: payload, found: payload }],
    culprit: { kind: payload, ...pod, container: payload, message: payload },
    impact: { old_pods_ready: 1, old_pods: 2 },
    pods: [{ ...pod, image: `${known.image}:${known.tag}`, ready: false, state: payload, restarts: 1 }],
    evidence: [
      { kind: 'note', text: payload },
      { kind: 'pod', ...pod, images: [payload], state: payload, message: payload, events: [payload] },
      { kind: 'images', requested: [payload], found: [payload], applied: [payload] },
    ],
    superseded_by: { task: payload, commit: payload, tag: payload },
    cancelled_by: { kind: 'session', name: payload },
    next_steps: [{ actor: 'developer', text: payload }],
    links: [{ kind: 'application', url: payload }],
  }
  const { database } = world
  await database.query(
    `UPDATE watcher.tasks SET status = 'failed', diagnosis = $2, cause = $3, status_reason = $3, progress = $3,
       app_url = $3, commit = $3, repository = $3, branch = $3 WHERE id = $1`,
    [id, JSON.stringify(diagnosis), payload],
  )
  await database.query(
    `INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh,
       may_write, status, repositories)
     SELECT gen_random_uuid(), created - interval '1 hour', updated, deadline, app, author, project, images, 900, true, true,
       'deployed', repositories FROM watcher.tasks WHERE id = $1`,
    [id],
  )
  await database.query('INSERT INTO watcher.task_pod_logs VALUES ($1, $2, ARRAY[$2, $2])', [id, payload])
  await database.query('INSERT INTO watcher.task_events (task_id, kind, detail) VALUES ($1, $2, $2)', [id, payload])
}

const foreignLinks = `[...document.links].map((link) => link.href).filter((href) => !href.startsWith(location.origin + '/'))`
/** One of the payloads is an address of its own, and says no more than where it leads. */
const isAddress = (href: string) => href.startsWith('https://evil.example/%22onmouseover=')
const markup = ['script', 'iframe', 'object', 'embed', 'img', '[onload]', '[onerror]', '[onmouseover]', '[onfocus]']
const found = markup.map((what) => `#root ${what}`).join(', ')

async function expectText(page: Page, payload: string, places: number): Promise<void> {
  await expect.poll(() => page.getByText(payload).count(), { message: payload }).toBeGreaterThanOrEqual(places)
  const links = await page.evaluate<string[]>(foreignLinks)
  expect(links.filter((href) => !isAddress(href))).toEqual([])
  expect(await page.locator(found).count()).toBe(0)
}

const open = (path: string) =>
  openPage(browser, world.service.url, path, { cookies: ada.cookies(world.service.url), width: 1440 })
const quiet = { complaints: [], outside: [] }

test('markup in texts is shown as text, and no script runs (T31; the list)', async () => {
  expect(new Set(ids).size).toBe(60)
  await using opened = await open('/tasks')
  const { page, complaints, outside } = opened
  await page.getByRole('row').nth(9).waitFor()
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByRole('link', { name: 'Newer' }).waitFor()
  await expectText(page, 'alert(', 1)
  expect({ complaints, outside }).toEqual(quiet)
})

const parts = ['#timeline li', '#pods tbody', '#images tbody', '#pod-log li', '#facts dd a', '.verdict [popover] code']

test('markup in texts is shown as text, and no script runs (T31; the page of each task: timeline, diagnosis, Pods, log, the task before)', async () => {
  await using opened = await open('/tasks')
  const { page, complaints, outside } = opened
  for (const [index, id] of ids.entries()) {
    const payload = xssPayloads[index] ?? ''
    await page.goto(`${world.service.url}/task/${id}`)
    for (const part of parts)
      await page.locator(part).filter({ hasText: payload }).first().waitFor({ state: 'attached' })
    await expectText(page, payload, 15)
  }
  expect({ complaints, outside }).toEqual(quiet)
}, 180_000)

test(`markup in texts is shown as text, and no script runs (T31; the lock's reason: banner, state and audit)`, async () => {
  await using opened = await open('/lock')
  await using elsewhere = await open('/tasks') // the page of the lock has no banner
  const { page, complaints, outside } = opened
  for (const reason of xssPayloads) {
    expect((await ada.change(world.service.url, '/api/v1/deploy-lock', 'POST', { reason })).status).toBe(200)
    await page.locator('p.reason').filter({ hasText: reason }).waitFor()
    await page.getByRole('row').filter({ hasText: reason }).first().waitFor()
    await expectText(page, reason, 2)
    await elsewhere.page.getByText(`by ada: ${reason}.`).waitFor()
    await expectText(elsewhere.page, reason, 1)
    await ada.change(world.service.url, '/api/v1/deploy-lock', 'DELETE')
  }
  expect({ complaints, outside }).toEqual(quiet)
})
