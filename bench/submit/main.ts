import { parseArgs } from 'node:util'
import { startService, withoutLimits } from '../../test/support/service.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { loadHistory } from '../support/load-history.ts'
import { type Quantiles, quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { compareCredentials } from './compare-credentials.ts'
import { type Cost, figure, measureCost } from './measure-cost.ts'
import { submitFor } from './submit-tasks.ts'

/**
 * `npm run bench:submit [-- --seconds 10 --history 0]`: tasks that one replica accepts, with 1 and with 64 connections, with
 * empty tables and with a year of history; what a task costs that ends immediately; and ID tokens of a CI beside scoped deploy tokens. `--before <checkout>` measures that
 * of another version too, `--only rate,cost,credentials` some of the three.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    history: { type: 'string', default: '1000000' },
    tasks: { type: 'string', default: '500' },
    before: { type: 'string' },
    only: { type: 'string', default: 'rate,cost,credentials' },
  },
})
const measuredMs = Number(values.seconds) * 1_000
const warmUpMs = 3_000
const historyTasks = Number(values.history)
const bars = { perSecond: 500, p99Ms: 250, p50Ms: 5 }

const parts = values.only.split(',')

console.log(describeMachine())
if (parts.includes('rate')) {
  const rows = await measure(0)
  if (historyTasks > 0) rows.push(...(await measure(historyTasks)))
  console.log(renderTable(['table, connections', 'tasks/s', 'p50 ms', 'p99 ms', 'max ms', 'bar', 'met'], rows))
}
if (parts.includes('credentials')) await compareCredentials(measuredMs)
if (parts.includes('cost')) await printCosts(Number(values.tasks), values.before)
console.log(describeMachine())

async function printCosts(tasks: number, before: string | undefined): Promise<void> {
  const rows: string[][] = []
  for (const connections of [1, 64]) {
    for (const checkout of before === undefined ? [undefined] : [before, undefined]) {
      const cost = await measureCost(tasks, connections, checkout)
      const version = checkout === undefined ? '' : ', before'
      rows.push(costRowOf(`${connections}${version}`, cost))
      console.log(`${connections}${version}, rows inserted+updated: ${cost.tables}`)
    }
  }
  const heading = [
    'connections',
    'inserted',
    'updated',
    'of it numbering',
    'transactions',
    'WAL KiB',
    'CPU ms',
    'events',
  ]
  console.log(renderTable(heading, rows))
}

function costRowOf(name: string, cost: Cost): string[] {
  const { inserted, updated, numbering, transactions, walBytes, cpuMs, events } = cost
  return [name, ...[inserted, updated, numbering, transactions, walBytes / 1_024, cpuMs, events].map(figure)]
}

/** In a database of its own: what was accepted into another table is still watched. */
async function measure(history: number): Promise<string[][]> {
  await using postgres = await startBenchPostgres()
  const settings = { ...withoutLimits, REQUIRE_CREDENTIAL: 'false' }
  await using service = await startService({ databaseUrl: postgres.url, settings })
  if (history > 0) await loadHistory(postgres.url, history)
  const table = history > 0 ? `${history} tasks` : 'empty'
  await submitFor(service.url, 16, warmUpMs)
  const one = await submit(service.url, 1)
  const many = await submit(service.url, 64)
  const isFast = many.rate >= bars.perSecond && many.p99 <= bars.p99Ms
  return [
    rowOf(`${table}, 1`, one, `p50 <= ${bars.p50Ms} ms`, one.p50 <= bars.p50Ms),
    rowOf(`${table}, 64`, many, `>= ${bars.perSecond}/s, p99 <= ${bars.p99Ms} ms`, isFast),
  ]
}

type Measured = { readonly rate: number } & Quantiles

async function submit(url: string, connections: number): Promise<Measured> {
  const { rate, latenciesMs } = await submitFor(url, connections, measuredMs)
  return { rate, ...quantilesOf(latenciesMs) }
}

function rowOf(name: string, { rate, p50, p99, max }: Measured, bar: string, isMet: boolean): string[] {
  return [name, rate.toFixed(0), p50.toFixed(1), p99.toFixed(1), max.toFixed(0), bar, isMet ? 'yes' : 'NO']
}
