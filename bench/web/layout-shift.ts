import { setTimeout as delay } from 'node:timers/promises'
import { launchBrowser, openPage } from '../../test/support/browser.ts'
import { withoutLimits } from '../../test/support/service.ts'
import { startWorld } from '../../test/support/world.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { insertHistory } from './overview.ts'

const applications = 22
const settledMs = 3_000

const shifts = `
  window.layoutShift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value
  }).observe({ type: 'layout-shift', buffered: true })`

/** Opens each page of a service with a history, and adds up what moved until it is still. */
export async function measureShifts() {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  const { service } = started.use(await startWorld({ databaseUrl, settings: withoutLimits }))
  const task = await insertHistory(
    databaseUrl,
    Array.from({ length: applications }, (_, at) => `app-${at}`),
  )
  const browser = started.use(await launchBrowser())
  const found: { where: string; width: number; shift: number }[] = []
  for (const where of ['/', '/tasks', `/task/${task}`, '/versions', '/history', '/lock', '/settings'])
    for (const width of [1440, 390]) {
      await using opened = await openPage(browser, 'about:', 'blank', { width })
      await opened.page.addInitScript(shifts)
      await opened.page.goto(service.url + where)
      await opened.page.getByRole('heading', { level: 1 }).waitFor()
      await delay(settledMs)
      found.push({ where, width, shift: await opened.page.evaluate<number>('window.layoutShift') })
    }
  return found
}
