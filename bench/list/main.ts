import { parseArgs } from 'node:util'
import { Pool as Database } from 'pg'
import { Pool } from 'undici'
import { startService } from '../../test/support/service.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { inTurns } from '../support/in-turns.ts'
import { loadHistory } from '../support/load-history.ts'
import { processorMs } from '../support/processor-time.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { listRequests, randomId, slowRequests } from './list-requests.ts'

const historyTasks = 1_000_000
const barMs = 50
const connectionCounts = [1, 8]
const slowSamples = 20

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '200' },
    only: { type: 'string', default: '' },
    database: { type: 'string' },
  },
})

type Measured = { readonly p50: number; readonly p99: number; readonly processorMs: number }
type Ask = (connections: number, values: readonly string[]) => Promise<number[]>

await using started = new AsyncDisposableStack()
const databaseUrl = options.database ?? started.use(await startBenchPostgres()).url
const service = started.use(await startService({ databaseUrl }))
await service.request('/readyz')
if (options.database === undefined) await loadHistory(databaseUrl, historyTasks)
const observer = started.adopt(new Database({ connectionString: databaseUrl, max: 1 }), (pool) => pool.end())
console.log(`${describeMachine()}; ${options.requests} requests each`)

const plain = await measure(readPlainPages, randomId)
const rows: string[][] = []
add('100 rows by primary key, from PostgreSQL', plain)
const isWanted = ([name]: [string, unknown]) => name.includes(options.only)
for (const [name, query] of Object.entries(listRequests).filter(isWanted)) {
  add(name, await measure(askService, () => pathOf(query)))
}
add('summary of 30 days', await measure(askService, () => 'apps/summary?days=30'))
// A window that nobody asked for lately is not in memory.
const windows = Array.from({ length: 20 }, (_, index) => `apps/summary?days=${20 + index}`)
add('summary of 20 to 39 days, each counted anew', [await measureAt(1, askService, windows)])
for (const [name, query] of Object.entries(slowRequests).filter(isWanted)) {
  const paths = Array.from({ length: slowSamples }, () => pathOf(query))
  add(`slow: ${name}`, [await measureAt(1, askService, paths)])
}
const heading = connectionCounts.flatMap((count) => [
  `p50 ms, ${count}`,
  'p99 ms',
  `<= ${barMs}`,
  '/ plain',
  'processor ms',
])
console.log(renderTable(['a page of 100 of 1,000,000 tasks; connections', ...heading], rows))
console.log(describeMachine())

function pathOf(query: () => string): string {
  return `tasks?limit=100&${query()}`
}

function add(name: string, measured: readonly Measured[]): void {
  const cells = measured.map(({ p50, p99, processorMs: used }, at) => {
    const times = p99 / (plain[at]?.p99 ?? Number.NaN)
    return [p50.toFixed(1), p99.toFixed(1), p99 <= barMs ? 'yes' : 'NO', times.toFixed(1), used.toFixed(1)]
  })
  rows.push([name, ...cells.flat()])
  console.error(rows.at(-1)?.join('  '))
}

async function measure(ask: Ask, value: () => string): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const connections of connectionCounts) {
    const values = Array.from({ length: Number(options.requests) }, value)
    measured.push(await measureAt(connections, ask, values))
  }
  return measured
}

async function measureAt(connections: number, ask: Ask, values: readonly string[]): Promise<Measured> {
  const before = await processorMs(observer, service.pid())
  const { p50, p99 } = quantilesOf(await ask(connections, values))
  const used = (await processorMs(observer, service.pid())) - before
  return { p50, p99, processorMs: used / values.length }
}

async function askService(connections: number, paths: readonly string[]): Promise<number[]> {
  const client = new Pool(service.url, { connections })
  const latencies = await inTurns(paths, connections, async (path) => {
    const began = performance.now()
    const answer = await client.request({ method: 'GET', path: `/api/v1/${path}` })
    const text = await answer.body.text()
    // What the service gives up after five seconds counts with its time.
    if (answer.statusCode !== 200 && answer.statusCode !== 503) throw new Error(`${path}: ${answer.statusCode} ${text}`)
    return performance.now() - began
  })
  await client.close()
  return latencies
}

/** The least that a page of tasks costs: a stretch of the primary key, without the service. */
async function readPlainPages(connections: number, ids: readonly string[]): Promise<number[]> {
  const database = new Database({ connectionString: databaseUrl, max: connections })
  const latencies = await inTurns(ids, connections, async (id) => {
    const began = performance.now()
    await database.query('SELECT * FROM watcher.tasks WHERE id > $1 ORDER BY id LIMIT 100', [id])
    return performance.now() - began
  })
  await database.end()
  return latencies
}
