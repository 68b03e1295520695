import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { type Service, startService, withoutLimits } from '../../test/support/service.ts'
import { startStatementLog } from '../../test/support/statement-log.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { loadHistory } from '../support/load-history.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { type Load, submitFor, submitToAll } from './submit-tasks.ts'

const historyTasks = 1_000_000
/** Short, since the machine changes its speed within seconds: so it is the same for both. */
const roundMs = 500
const rounds = 40
/** Fewer than the applications are submitted to between two ends. */
const roundsBetweenEnds = 5
const warmUpMs = 3_000
const countedTasks = 200
const bar = 0.35

const profile = process.env.PROFILE_DIR
const settings = {
  ...withoutLimits,
  REQUIRE_CREDENTIAL: 'false',
  ...(profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }),
}

await using postgres = await startBenchPostgres()
console.log(describeMachine())
console.log(await describeRoundTrips(postgres.url))
await using bare = await startBareRoute(postgres.url)
const heading = [
  'table, connections',
  'bare/s',
  'p99 ms',
  'service/s',
  'p99 ms',
  'ratio',
  'half of rounds',
  `>= ${bar}`,
]
console.log(renderTable(heading, await measureTable('empty')))
if (!process.argv.includes('--empty-only')) {
  const began = performance.now()
  await loadHistory(postgres.url, historyTasks)
  console.log(`loaded ${historyTasks} tasks in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  console.log(renderTable(heading, await measureTable('1,000,000 tasks')))
}

/** Nothing that a round submits has an unfinished predecessor, but for the last row: there everything has. */
async function measureTable(table: string): Promise<string[][]> {
  const rows: string[][] = []
  await using service = await startService({ databaseUrl: postgres.url, settings })
  await submitFor(bare.url, 16, warmUpMs)
  await submitToAll(service.url, 16)
  const measure = async (connections: number, prepare: () => Promise<void>) => {
    const loads: { bare: Load; service: Load }[] = []
    for (let round = 0; round < rounds; round += 1) {
      if (round % roundsBetweenEnds === 0) await prepare()
      const bareLoad = await submitFor(bare.url, connections, roundMs)
      loads.push({ bare: bareLoad, service: await submitFor(service.url, connections, roundMs) })
    }
    return loads
  }
  for (const connections of [1, 64])
    rows.push(rowOf(`${table}, ${connections}`, await measure(connections, () => endTasks(service))))
  await endTasks(service)
  await submitToAll(service.url, 16)
  rows.push(rowOf(`${table}, 1, superseding`, await measure(1, async () => undefined)))
  return rows
}

/** Ends all that is unfinished, as rollouts do that go well, and waits until nobody watches it any more. */
async function endTasks(service: Service): Promise<void> {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  try {
    // In the order in which the service locks them.
    await client.query(`UPDATE watcher.tasks SET status = 'deployed', progress = NULL, updated = clock_timestamp()
      FROM (SELECT id FROM watcher.tasks WHERE status = 'in progress' ORDER BY app, id FOR UPDATE) AS unfinished
      WHERE tasks.id = unfinished.id`)
  } finally {
    await client.end()
  }
  while (!/^in_progress_tasks 0$/m.test(String((await service.request('/metrics')).body))) await delay(200)
}

function rowOf(name: string, loads: readonly { bare: Load; service: Load }[]): string[] {
  const sides = ['bare', 'service'] as const
  const rate = (side: (typeof sides)[number]) => median(loads.map((load) => load[side].rate))
  const p99 = (side: (typeof sides)[number]) => quantilesOf(loads.flatMap((load) => load[side].latenciesMs)).p99
  const ratios = loads.map((load) => load.service.rate / load.bare.rate)
  const ratio = median(ratios)
  const figures = sides.flatMap((side) => [rate(side).toFixed(0), p99(side).toFixed(1)])
  const half = [0.25, 0.75].map((share) => quantile(ratios, share).toFixed(2)).join(' to ')
  return [name, ...figures, ratio.toFixed(2), half, ratio >= bar ? 'yes' : 'NO']
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}

async function startBareRoute(databaseUrl: string) {
  const child = fork(fileURLToPath(new URL('./bare-route.ts', import.meta.url)), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  })
  const [port] = await once(child, 'message')
  const stop = async () => {
    const ended = once(child, 'exit')
    child.disconnect()
    await ended
  }
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop }
}

/** One task after another through a line that notes every statement; what the service does besides is told apart. */
async function describeRoundTrips(databaseUrl: string): Promise<string> {
  await using log = await startStatementLog({ port: Number(new URL(databaseUrl).port) })
  const logged = Object.assign(new URL(databaseUrl), { port: String(log.port) }).href
  await using service = await startService({ databaseUrl: logged, settings })
  const count = async (headers: Record<string, string>[]) => {
    log.statements.length = 0
    for (const header of headers) {
      const { status } = await service.submitTask(undefined, header)
      if (status !== 202) throw new Error(`not accepted: ${status}`)
    }
    const ofRequests = log.statements.filter((text) =>
      /accept_tasks|from "watcher"\."(?:deploy_lock|idempotency_keys)"/.test(text),
    )
    return { ofRequests: ofRequests.length / headers.length, all: log.statements.length / headers.length }
  }
  const plain = await count(Array.from({ length: countedTasks }, () => ({})))
  const keyed = await count(Array.from({ length: countedTasks }, (_, n) => ({ 'Idempotency-Key': `bench-${n}` })))
  return (
    `round trips to PostgreSQL for an accepted task: ${plain.ofRequests} (with an Idempotency-Key ${keyed.ofRequests}); ` +
    `with claiming, watching and numbering ${plain.all.toFixed(1)} at one task after another`
  )
}
