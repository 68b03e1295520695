import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { describeMachine } from '../support/describe-machine.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { type BenchWorld, startBenchWorld } from '../support/start-bench-world.ts'

const { values } = parseArgs({
  options: { unfinished: { type: 'string', default: '2000,5000' }, seconds: { type: 'string', default: '60' } },
})
const windowMs = Number(values.seconds) * 1_000
const sampleMs = 1_000
const probeMs = 25

const readMegabytes = async (world: BenchWorld) => (await world.metric('process_resident_memory_bytes')) / 2 ** 20
const readDelayMs = async (world: BenchWorld) => (await world.metric('nodejs_eventloop_lag_p99_seconds')) * 1_000

/** Samples until `isOver`. */
async function sampleUntil(isOver: () => boolean, everyMs: number, sample: () => Promise<number>): Promise<number[]> {
  const found: number[] = []
  while (!isOver()) {
    found.push(await sample())
    await delay(everyMs)
  }
  return found
}

/** How long the cheapest request takes: a delayed event loop delays it too, so it checks the service's own figure. */
async function timeProbe(url: string): Promise<number> {
  const askedMs = performance.now()
  await (await fetch(`${url}/livez`)).arrayBuffer()
  return performance.now() - askedMs
}

/** A service of its own for each number, so that one leaves no memory behind for the next. */
async function measureAt(count: number): Promise<readonly string[]> {
  await using world = await startBenchWorld()
  const { installation, service } = world
  const apps = Array.from({ length: count }, (_, at) => `app-${at}`)
  await installation.createApplications(apps, 'apps')
  const idle = await readMegabytes(world)
  await installation.hold(apps, 'v1')
  let areWaiting = false
  const starting = sampleUntil(
    () => areWaiting,
    sampleMs,
    () => readMegabytes(world),
  )
  starting.catch(() => {}) // awaited below
  await world.deploy(apps, 'v1')
  await installation.untilWaiting(apps)
  areWaiting = true
  const whileStarting = await starting
  await readDelayMs(world) // each reading starts the service's histogram anew
  const endMs = performance.now() + windowMs
  const probes = await sampleUntil(
    () => performance.now() > endMs,
    probeMs,
    () => timeProbe(service.url),
  )
  const delayMs = await readDelayMs(world)
  const [unfinished, whileWaiting] = [await world.metric('in_progress_tasks'), await readMegabytes(world)]
  const figures = [idle, Math.max(...whileStarting), whileWaiting, delayMs, quantilesOf(probes).p99]
  return [`${unfinished} unfinished tasks`, ...figures.map((figure) => figure.toFixed(0))]
}

const heading = [
  'the service with',
  'MiB idle',
  'MiB at most while they started',
  'MiB waiting',
  'event-loop delay p99 (ms)',
  'probe p99 (ms)',
]

process.stdout.write(`${describeMachine()}\n`)
const rows: (readonly string[])[] = []
for (const count of values.unfinished.split(',').map(Number)) rows.push(await measureAt(count))
process.stdout.write(`${renderTable(heading, rows)}\n${describeMachine()}\n`)
