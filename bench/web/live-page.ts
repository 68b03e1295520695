import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { openPage } from '../../test/support/browser.ts'

/** Notes the longest task of the main thread, and when the status of each row became what it is. */
const observer = `
  window.longestTaskMs = 0
  window.statusAtMs = {}
  window.changedRows = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longestTaskMs = Math.max(window.longestTaskMs, duration)
  }).observe({ type: 'longtask' })
  document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver((mutations) => {
      const atMs = Date.now()
      const changed = new Set()
      const redrawn = new Set()
      for (const { target } of mutations) {
        const element = target.nodeType === 1 ? target : target.parentElement
        const row = element?.closest('tbody tr')
        if (row) changed.add(row)
        if (row && element.closest('svg.mini')) redrawn.add(row)
      }
      for (const row of changed) {
        const name = row.querySelector('a.name').getAttribute('href').replace('/task/', '')
        window.statusAtMs[name + ' ' + row.querySelector('.c-st').textContent.trim()] ??= atMs
      }
      window.changedRows += redrawn.size
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
  })`

/** The list of tasks, open in a browser. */
export async function openLivePage(browser: Browser, url: string) {
  const opened = await openPage(browser, 'about:', 'blank')
  const { page } = opened
  await page.addInitScript(observer)
  await page.goto(`${url}/tasks`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('tbody tr').first().waitFor()
  return {
    rows: () => page.locator('tbody tr').count(),
    /** Waits until new tasks wait, and shows them. */
    async showNew(count: number) {
      await page.getByRole('button', { name: `${count} new deployments`, exact: true }).waitFor()
      await page.keyboard.press('.')
    },
    resetFigures: () => page.evaluate('window.longestTaskMs = window.changedRows = 0'),
    /** How many rows changed their gates, counted once for each painting. */
    changedRows: () => page.evaluate<number>('window.changedRows'),
    longestTaskMs: () => page.evaluate<number>('window.longestTaskMs'),
    statusAtMs: (id: string, status: string) => statusAtMs(page, `${id} ${status}`),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

async function statusAtMs(page: Page, key: string): Promise<number> {
  const noted = `window.statusAtMs[${JSON.stringify(key)}] ?? 0`
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(20)) {
    const atMs = await page.evaluate<number>(noted)
    if (atMs > 0) return atMs
  }
  throw new Error(`the page did not show ${key}`)
}
