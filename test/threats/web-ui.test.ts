import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { launchBrowser, openPage } from '../support/browser.ts'
import { aTask, type Service, startService } from '../support/service.ts'
import { threats } from './rows.ts'
import { xssPayloads } from './xss-payloads.ts'

let browser: Browser
let service: Service
let ids: readonly string[]
beforeAll(async () => {
  browser = await launchBrowser()
  service = await startService()
  ids = await Promise.all(xssPayloads.map(submit))
})
afterAll(async () => {
  await browser.close()
  await service[Symbol.asyncDispose]()
})

/** A task with the payload in every field; where an application's name may not hold it, another stands there. */
async function submit(payload: string, index: number): Promise<string> {
  const source = { repository: payload, sha: payload, url: payload }
  const fields = { author: payload, project: payload, images: [{ image: payload, tag: payload }], source }
  const named = await service.submitTask(aTask({ ...fields, app: payload }))
  const answer = named.status === 202 ? named : await service.submitTask(aTask({ ...fields, app: `hostile-${index}` }))
  return z.object({ id: z.string() }).parse(answer.body).id
}

const foreignLinks = `[...document.links].map((link) => link.href).filter((href) => !href.startsWith(location.origin + '/'))`
const markup = '#root script, #root iframe, #root object, #root embed, #root img, #root [onload], #root [onerror]'

test(`${threats.T31} (the list)`, async () => {
  expect(new Set(ids).size).toBe(60)
  await using opened = await openPage(browser, service.url, '/tasks')
  const { page, complaints, outside } = opened
  await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  await page
    .locator(`a[href*="${ids.at(-1)}"]`)
    .first()
    .waitFor()
  expect(await page.evaluate<string[]>(foreignLinks)).toEqual([])
  expect(await page.locator(markup).count()).toBe(0)
  expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
})

test(`${threats.T31} (the page of each task)`, async () => {
  await using opened = await openPage(browser, service.url, '/tasks')
  const { page, complaints, outside } = opened
  for (const [index, id] of ids.entries()) {
    await page.goto(`${service.url}/task/${id}`)
    await page
      .getByText(xssPayloads[index] ?? '', { exact: true })
      .first()
      .waitFor()
    const links = await page.evaluate<string[]>(foreignLinks)
    expect(
      links.filter((href) => !/^https:\/\/evil\.example\/%22onmouseover=|^http:\/\/127\.0\.0\.1:1\//.test(href)),
    ).toEqual([])
    expect(await page.locator(markup).count()).toBe(0)
  }
  expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
})
