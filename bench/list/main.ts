import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { startService } from '../../test/support/service.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { loadHistory } from '../support/load-history.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { listRequests, overviewRequests } from './list-requests.ts'

/** Of p99. With more tasks than 100,000 a 503 is within the bar too: it says what to narrow. */
const [smallHistory, smallBarMs, largeBarMs] = [100_000, 500, 2_000]

const { values: options } = parseArgs({
  options: {
    tasks: { type: 'string', default: '100000,1000000' },
    requests: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
  },
})

for (const tasks of options.tasks.split(',').map(Number)) await measureHistory(tasks)

async function measureHistory(tasks: number): Promise<void> {
  await using started = new AsyncDisposableStack()
  const { url: databaseUrl } = started.use(await startBenchPostgres())
  const service = started.use(await startService({ databaseUrl }))
  await service.request('/readyz')
  await loadHistory(databaseUrl, tasks)
  const client = started.adopt(new Pool(service.url, { connections: 1 }), (pool) => pool.close())
  const barMs = tasks <= smallHistory ? smallBarMs : largeBarMs
  const turns = Number(options.requests)
  const lists = Object.entries(listRequests).map(([name, query]) => [name, () => `tasks?limit=100&${query()}`] as const)
  console.log(`${describeMachine()}; ${turns} requests each, one after another`)
  const rows: string[][] = []
  const all = [...lists, ...Object.entries(overviewRequests)].filter(([name]) => name.includes(options.only))
  for (const [name, path] of all) {
    const answers = []
    for (let turn = 0; turn < turns; turn += 1) answers.push(await ask(client, path()))
    const answered = answers.filter(({ status }) => status === 200).map(({ ms }) => ms)
    const timedOut = answers.length - answered.length
    const { p50, p99 } = quantilesOf(answered)
    const isMet = !(p99 > barMs) && (timedOut === 0 || tasks > smallHistory)
    rows.push([name, p50.toFixed(1), p99.toFixed(1), String(timedOut), isMet ? 'yes' : 'NO'])
    console.error(rows.at(-1)?.join('  '))
  }
  console.log(renderTable([`a page of 100 of ${tasks} tasks`, 'p50 ms', 'p99 ms', '503', `<= ${barMs}`], rows))
  console.log(describeMachine())
}

async function ask(client: Pool, path: string): Promise<{ readonly status: number; readonly ms: number }> {
  const began = performance.now()
  const answer = await client.request({ method: 'GET', path: `/api/v1/${path}` })
  const text = await answer.body.text()
  const isTimeout = answer.statusCode === 503 && text.includes('; use ')
  if (answer.statusCode !== 200 && !isTimeout) throw new Error(`${path}: ${answer.statusCode} ${text}`)
  return { status: answer.statusCode, ms: performance.now() - began }
}
