import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser, openPage } from '../support/browser.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import { startWorld, type World } from '../support/world.ts'
import { xssPayloads } from './xss-payloads.ts'

const isLine = (text: string) => !/\p{Cc}/u.test(text) && text.trim() !== ''
const payloads = xssPayloads.filter(isLine)

let world: World
let browser: Browser
let ada: HttpBrowser
beforeAll(async () => {
  browser = await launchBrowser()
  world = await startWorld({ parts: ['provider'], settings: { IDP_PRIVILEGED_GROUPS: ['oncall', ...payloads].join() } })
  ada = await world.signedIn('ada', ['oncall'])
  const expires = Math.floor(Date.now() / 1000) + 3_600
  for (const payload of payloads) {
    const body = { description: payload, apps: [payload], expires }
    expect((await ada.change(world.service.url, '/api/v1/deploy-tokens', 'POST', body)).status).toBe(201)
  }
  await world.database.query(
    `INSERT INTO watcher.tasks
       (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status, cause)
     SELECT gen_random_uuid(), now() - interval '1 minute', now(), now(), payload, payload, payload,
       jsonb_build_array(jsonb_build_object('image', payload, 'tag', payload)), 900, true, true, 'failed', 'crash_loop'
     FROM unnest($1::text[]) AS payload`,
    [payloads],
  )
  await world.database.query('INSERT INTO watcher.confirmed_applications (app) SELECT unnest($1::text[])', [payloads])
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

const foreignLinks = `[...document.links].map((link) => link.href).filter((href) => !href.startsWith(location.origin + '/'))`
const markup = '#root script, #root iframe, #root object, #root embed, #root img, #root [onload], #root [onerror]'

test.for([
  ['/?apps=all', payloads],
  ['/settings', payloads],
  ['/history', []],
] as const)('markup in texts is shown as text, and no script runs (T31) (%s)', async ([path, shown]) => {
  expect(payloads.length).toBeGreaterThan(50)
  const cookies = ada.cookies(world.service.url)
  await using opened = await openPage(browser, world.service.url, path, { cookies })
  const { page, complaints, outside } = opened
  await page.locator('main').getByText('<').first().waitFor()
  for (const payload of shown) await page.getByText(payload, { exact: true }).first().waitFor({ state: 'attached' })
  await page.keyboard.press('/')
  await page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').fill('<')
  await page.getByRole('dialog', { name: 'Find' }).getByRole('option').nth(3).waitFor()
  expect(await page.evaluate<string[]>(foreignLinks)).toEqual([])
  expect(await page.locator(markup).count()).toBe(0)
  expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
})
