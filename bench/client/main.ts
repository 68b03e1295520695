import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildPart, client } from '../../launcher/build-part.mjs'
import { startClient } from '../../test/support/run-client.ts'
import { withoutLimits } from '../../test/support/service.ts'
import { deployToken, startWorld } from '../../test/support/world.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'

/**
 * `npm run bench:client [-- --deployments 100 --seconds 60]`: from a verdict to the end of the client's process, beside a poll
 * every 15 s; the processor time of a start until the first request; the size of the program.
 */
const { values } = parseArgs({
  options: { deployments: { type: 'string', default: '100' }, seconds: { type: 'string', default: '60' } },
})
const deployments = Number(values.deployments)
const withinMs = Number(values.seconds) * 1_000
const bars = { p99Ms: 150, startMs: 150, bytes: 150 * 1_024 }
const starts = 20
/** As argo-watcher's client: first after 5 s, then every 15 s. */
const firstPollMs = 5_000
const pollMs = 15_000

const checkout = fileURLToPath(new URL('../..', import.meta.url))
buildPart(client, checkout, process.execPath)
const size = statSync(`${checkout}/cli/dist/deployment-watcher.mjs`).size

console.log(describeMachine())
const startCost = quantilesOf(await measureStarts())
const { exits, polls } = await measureDelays()
const exit = quantilesOf(exits)
const poll = quantilesOf(polls)
const met = (found: number, bar: number) => (found <= bar ? 'met' : 'missed')
console.log(
  renderTable(
    [`verdict written → pipeline knows, ${exits.length} deployments`, 'p50 ms', 'p99 ms', 'bar p99', ''],
    [
      ['the client ends', exit.p50.toFixed(0), exit.p99.toFixed(0), String(bars.p99Ms), met(exit.p99, bars.p99Ms)],
      ['a poll every 15 s', poll.p50.toFixed(0), poll.p99.toFixed(0), '', ''],
      ['ratio', (poll.p50 / exit.p50).toFixed(0), (poll.p99 / exit.p99).toFixed(0), '', ''],
    ],
  ),
)
console.log(
  renderTable(
    ['program', 'found', 'bar', ''],
    [
      [
        `processor time until the first request, median of ${starts}, ms`,
        startCost.p50.toFixed(0),
        String(bars.startMs),
        met(startCost.p50, bars.startMs),
      ],
      ['size, KiB', (size / 1_024).toFixed(0), String(bars.bytes / 1_024), met(size, bars.bytes)],
    ],
  ),
)
console.log(describeMachine())

/** Processor time in ms of all threads, from the start of the process to the moment at which its first request arrives. */
async function measureStarts(): Promise<number[]> {
  const costs: number[] = []
  for (let run = 0; run < starts; run += 1) {
    const arrived = Promise.withResolvers<void>()
    const server = createServer((_request, response) => {
      arrived.resolve()
      setTimeout(() => response.end('"1"'), 100)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const child = startClient(['deploy', '--app', 'shop', '--image', 'shop:1'], { WATCHER_URL: url })
    await arrived.promise
    costs.push(cpuMsOf(child.pid))
    child.signal('SIGTERM')
    await child.ended
    server.close()
  }
  return costs
}

/** https://docs.kernel.org/scheduler/sched-stats.html: the first figure is nanoseconds on a processor. */
function cpuMsOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return (
    tasks.reduce(
      (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
      0,
    ) / 1e6
  )
}

async function measureDelays() {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startBenchPostgres())
  const names = Array.from({ length: deployments }, (_, index) => `app-${index}`)
  const settings = { ...withoutLimits, BAD_POD_GRACE: '1h' }
  const world = stack.use(await startWorld({ databaseUrl: postgres.url, applications: names, settings }))
  const variables = { WATCHER_URL: world.service.url, WATCHER_TOKEN: deployToken, CI: 'true' }
  for (const name of names)
    world.simulator.control.overridePods(name, { newPods: 'held', except: [`registry.example/${name}:v0`] })

  const measured = names.map(async (name, index) => {
    await delay(index * 200) // starting all at once would measure the starts
    const child = startClient(['deploy', '--app', name, '--image', `registry.example/${name}:v1`], variables)
    const id = await idOf(child.stdout)
    const polled = pollUntilEnd(world.service.url, id)
    while (!child.stdout().includes('health: ')) await delay(100)
    await delay(Math.random() * withinMs)
    world.simulator.control.releasePods(name)
    const { code } = await child.ended
    const exitedMs = Date.now()
    if (code !== 0) throw new Error(`the client ended with ${code}:\n${child.stdout()}`)
    const { updated } = await world.service.getTask(id)
    return { exit: exitedMs - updated * 1_000, poll: (await polled) - updated * 1_000 }
  })
  const results = await Promise.all(measured)
  return { exits: results.map(({ exit }) => exit), polls: results.map(({ poll }) => poll) }
}

async function idOf(stdout: () => string): Promise<string> {
  for (;;) {
    const [, id] = /\/task\/(\S+)/.exec(stdout()) ?? []
    if (id !== undefined) return id
    await delay(20)
  }
}

async function pollUntilEnd(url: string, id: string): Promise<number> {
  for (let pauseMs = firstPollMs; ; pauseMs = pollMs) {
    await delay(pauseMs)
    const answer = await fetch(`${url}/api/v1/tasks/${id}`)
    const { status } = (await answer.json()) as { status: string }
    if (status !== 'in progress') return Date.now()
  }
}
