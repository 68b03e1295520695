import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { launchBrowser } from '../../test/support/browser.ts'
import { aTask, type Service, startService, withoutLimits } from '../../test/support/service.ts'
import { startStatementLog } from '../../test/support/statement-log.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { inTurns } from '../support/in-turns.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { changeRows } from './change-rows.ts'
import { openEventStreams } from './event-streams.ts'
import { buildPages, weighInitialScript, weighPage } from './initial-script.ts'
import { measureShifts } from './layout-shift.ts'
import { openLivePage } from './live-page.ts'
import { measureOverview } from './overview.ts'
import { measurePageSizes } from './page-sizes.ts'

/** `npm run bench:web [-- --only size,shift,pages,rows,overview,status,broadcast]`: what an open page costs, and how soon it shows what happened. */
const parts = ['size', 'shift', 'pages', 'rows', 'overview', 'status', 'broadcast'] as const
const { values } = parseArgs({ options: { only: { type: 'string', default: parts.join(',') } } })
const bars = {
  scriptKilobytes: 100,
  pageKilobytes: 130,
  layoutShift: 0.05,
  longestTaskMs: 200,
  statusMs: 1_000,
  statementRatio: 1.2,
  broadcastMs: 500,
  residentMegabytes: 256,
}
const [rowCount, changeEveryMs, changeForMs, changeRuns] = [100, 100, 10_000, 3]
const [statusChanges, statusRounds, clients] = [40, 3, 200]
const [broadcastStreams, broadcasts] = [1_000, 100]
const paceMs = 250

const rows: string[][] = []
const addRow = (claim: string, figure: string, bar: string, isMet: boolean) => {
  rows.push([claim, figure, bar, isMet ? 'yes' : 'NO'])
  console.error(rows.at(-1)?.join('  '))
}

const measures = {
  size: measureSize,
  shift: addShifts,
  pages: measurePages,
  rows: measureRows,
  overview: addOverview,
  status: measureStatus,
  broadcast: measureBroadcast,
}
await buildPages()
console.log(describeMachine())
for (const part of parts) if (values.only.split(',').includes(part)) await measures[part]()
console.log(renderTable(['what', 'measured', 'bar', 'met'], rows))
console.log(describeMachine())

async function measureSize() {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  const service = started.use(await startService({ databaseUrl }))
  const browser = started.use(await launchBrowser())
  const addSize = (claim: string, kilobytes: number, bar: number) =>
    addRow(`${claim}, gzip`, `${kilobytes.toFixed(1)} kB`, `<= ${bar}`, kilobytes <= bar)
  addSize('initial JavaScript', await weighInitialScript(), bars.scriptKilobytes)
  for (const where of ['/', '/tasks', '/task/none', '/versions', '/lock', '/settings'])
    addSize(`all JavaScript of ${where}`, await weighPage(browser, service.url, where), bars.pageKilobytes)
}

/** What moves without the reader's doing while a page opens: the cumulative layout shift that browsers count. */
async function addShifts() {
  for (const { where, width, shift } of await measureShifts())
    addRow(
      `layout shift of ${where}, ${width} px`,
      shift.toFixed(3),
      `<= ${bars.layoutShift}`,
      shift <= bars.layoutShift,
    )
}

async function measurePages() {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  await measurePageSizes(databaseUrl, addRow)
}

/** Chromium names tasks of 50 ms and more only. */
function longTask(ms: number): string {
  return ms === 0 ? 'below 50 ms' : `${ms.toFixed(0)} ms`
}

async function measureRows() {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  const service = started.use(await startService({ databaseUrl, settings: withoutLimits }))
  const browser = started.use(await launchBrowser())
  const apps = Array.from({ length: rowCount }, (_, at) => `app-${at}`)
  await submitAll(service, apps.slice(0, rowCount / 2))
  const page = started.use(await openLivePage(browser, service.url))
  await submitAll(service, apps.slice(rowCount / 2))
  await page.showNew(rowCount / 2)
  const shown = await page.rows()
  if (shown !== rowCount) throw new Error(`the page has ${shown} rows`)
  const longest: number[] = []
  for (let run = 0; run < changeRuns; run += 1) {
    await page.resetFigures()
    const rounds = await changeRows(databaseUrl, changeEveryMs, changeForMs)
    longest.push(await page.longestTaskMs())
    const changed = (await page.changedRows()) / rowCount
    console.error(
      `${rounds} rounds in ${changeForMs} ms, ${changed} painted, longest task ${longTask(longest.at(-1) ?? 0)}`,
    )
    if (changed === 0) throw new Error('no row changed on the page')
  }
  const { p50: median } = quantilesOf(longest)
  const claim = `${rowCount} rows changed ${1_000 / changeEveryMs} times a second: longest task, median of ${changeRuns} runs`
  addRow(claim, longTask(median), `<= ${bars.longestTaskMs}`, median <= bars.longestTaskMs)
}

async function addOverview() {
  const { claim, openingMs, longestMs, residentMegabytes } = await measureOverview()
  const figure = `${longTask(longestMs)} (${longTask(openingMs)} when opened)`
  addRow(`${claim}: longest task, median run`, figure, `<= ${bars.longestTaskMs}`, longestMs <= bars.longestTaskMs)
  const isSmall = residentMegabytes <= bars.residentMegabytes
  addRow(`${claim}: resident`, `${residentMegabytes.toFixed(0)} MB`, `<= ${bars.residentMegabytes}`, isSmall)
}

async function measureStatus() {
  const one = await measureStatusWith(1)
  const many = await measureStatusWith(clients)
  const { p50, p99 } = quantilesOf(many.latenciesMs)
  const claim = `status change on the open page, ${clients} clients: p50, p99`
  addRow(claim, `${p50.toFixed(0)}, ${p99.toFixed(0)} ms`, `<= ${bars.statusMs}`, p99 <= bars.statusMs)
  const ratio = many.statements / one.statements
  const figure = `${one.statements.toFixed(1)}, ${many.statements.toFixed(1)}: ${ratio.toFixed(2)}`
  addRow(
    `statements for each change, 1 and ${clients} clients`,
    figure,
    `<= ${bars.statementRatio}`,
    ratio <= bars.statementRatio,
  )
}

/** One of the clients is a page in a browser. Each change is a new task that supersedes one that the page shows. */
async function measureStatusWith(count: number) {
  await using started = new AsyncDisposableStack()
  const { url: ownerUrl } = started.use(await startBenchPostgres())
  const log = started.use(await startStatementLog({ port: Number(new URL(ownerUrl).port) }))
  const databaseUrl = Object.assign(new URL(ownerUrl), { port: String(log.port) }).href
  const service = started.use(await startService({ databaseUrl, settings: withoutLimits }))
  const browser = started.use(await launchBrowser())
  started.use(await openEventStreams(service.url, count - 1))
  const latenciesMs: number[] = []
  let statements = 0
  for (let round = 0; round < statusRounds; round += 1) {
    const apps = Array.from({ length: statusChanges }, (_, at) => `app-${round}-${at}`)
    const ids = await submitAll(service, apps)
    await using page = await openLivePage(browser, service.url)
    await delay(paceMs)
    const before = log.statements.length
    for (const [at, app] of apps.entries()) {
      const beganMs = Date.now()
      await submit(service, app, 'v2')
      latenciesMs.push((await page.statusAtMs(ids[at] ?? '', 'Cancelled')) - beganMs)
      await delay(Math.max(0, beganMs + paceMs - Date.now()))
    }
    statements += log.statements.length - before
  }
  return { latenciesMs, statements: statements / latenciesMs.length }
}

async function measureBroadcast() {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  const service = started.use(await startService({ databaseUrl, settings: withoutLimits }))
  const streams = started.use(await openEventStreams(service.url, broadcastStreams))
  const latenciesMs: number[] = []
  let residentMegabytes = 0
  for (let turn = 0; turn < broadcasts; turn += 1) {
    const beganMs = Date.now()
    const id = await submit(service, `app-${turn}`, 'v1')
    await streams.untilArrived(id, 10_000)
    const arrivals = streams.arrivalsOf(id)
    if (arrivals.length < broadcastStreams) throw new Error(`an event came to ${arrivals.length} streams`)
    latenciesMs.push(...arrivals.map((atMs) => atMs - beganMs))
    residentMegabytes = Math.max(residentMegabytes, await readMegabytes(service))
    await delay(Math.max(0, beganMs + paceMs - Date.now()))
  }
  const { p50, p99 } = quantilesOf(latenciesMs)
  const claim = `broadcast to ${broadcastStreams} streams, from the submission: p50, p99`
  addRow(claim, `${p50.toFixed(0)}, ${p99.toFixed(0)} ms`, `<= ${bars.broadcastMs}`, p99 <= bars.broadcastMs)
  const isSmall = residentMegabytes <= bars.residentMegabytes
  addRow('resident with them, at most', `${residentMegabytes.toFixed(0)} MB`, `<= ${bars.residentMegabytes}`, isSmall)
}

async function readMegabytes(service: Service): Promise<number> {
  const { body } = await service.request('/metrics')
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(String(body))?.[1]) / 1e6
}

function submitAll(service: Service, apps: readonly string[]): Promise<string[]> {
  return inTurns(apps, 8, (app) => submit(service, app, 'v1'))
}

async function submit(service: Service, app: string, tag: string): Promise<string> {
  const { status, body } = await service.submitTask(aTask({ app, images: [{ image: `registry.example/${app}`, tag }] }))
  if (status !== 202) throw new Error(`not accepted: ${status} ${JSON.stringify(body)}`)
  return (body as { id: string }).id // checked by the status
}
