import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { Client as Database } from 'pg'
import { Agent, fetch } from 'undici'
import { describeMachine } from '../../bench/support/describe-machine.ts'
import { quantilesOf } from '../../bench/support/quantiles.ts'
import { renderTable } from '../../bench/support/render-table.ts'
import { type BenchWorld, startBenchWorld } from '../../bench/support/start-bench-world.ts'
import { waitingAgent } from '../../bench/support/wait-for-end.ts'
import { TaskRecord } from '../../contract/task.ts'
import { isFinal } from '../../contract/task-status.ts'
import { claimPort } from '../../test/support/claim-port.ts'
import { reserveIdentityProvider } from '../../test/support/identity-provider.ts'
import type { Order } from './attacker.ts'
import { attacks } from './attacks.ts'

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '15' },
  },
})
const windowMs = Number(options.seconds) * 1_000
const rollouts = 200
const foreignEvents = 100_000
const foreignTasks = 1_500
const sampleMs = 100
const probeMs = 25
const lostAfterMs = 30_000
const acceptedInMs = 100
const bars = { residentMiB: 400, verdictMs: 1_000, readyP99Ms: 250, readyMaxMs: 1_000 }

type Probes = { readonly residentMiB: number[]; readonly readyMs: number[] }

const chosen = Object.keys(attacks).filter((name) => name.includes(options.only))
const heading = [
  'the service',
  'MiB at most',
  'verdict p99 ms',
  'readyz p99 ms',
  'at most',
  'calls to provider',
  'holds',
]

console.log(describeMachine())
if (options.before !== undefined)
  console.log(renderTable([`before: ${heading[0]} and`, ...heading.slice(1)], await measure(options.before)))
console.log(renderTable([`${heading[0]} and`, ...heading.slice(1)], await measure()))
console.log(describeMachine())

/** One service for all attacks: what one leaves behind, the next ones meet. */
async function measure(checkout?: string): Promise<string[][]> {
  await using provider = await reserveIdentityProvider()
  const metricsPort = await claimPort()
  const settings = { ...provider.settings, METRICS_PORT: String(metricsPort), LOG_LEVEL: 'error' }
  await using world = await startBenchWorld(settings, checkout)
  await provider.start(world.service.url)
  const apps = Array.from({ length: rollouts }, (_, at) => `app-${at}`)
  await world.installation.createApplications(apps, 'apps')
  await world.installation.hold(apps, 'v1')
  const ids = await world.deploy(apps, 'v1')
  await world.installation.untilWaiting(apps)
  await fillHistory(world.service.databaseUrl)
  const perAttack = Math.floor(rollouts / Object.keys(attacks).length)
  const rows: string[][] = []
  for (const [at, name] of chosen.entries()) {
    const ending = {
      apps: apps.slice(at * perAttack, (at + 1) * perAttack),
      ids: ids.slice(at * perAttack, (at + 1) * perAttack),
    }
    await untilAccepting(world.service.url)
    const callsBefore = provider.calls.length
    const untilMs = performance.now() + windowMs
    const port = Number(new URL(world.service.url).port)
    const attacking = runAttack({ name, target: { port, metricsPort, taskIds: ids.slice(-perAttack) }, windowMs })
    // Checkouts from before METRICS_PORT answered probes have them at the port of the API alone.
    const probing = probe(world, checkout === undefined ? metricsPort : port, untilMs)
    const verdicts = await endRollouts(world, ending, untilMs)
    await attacking
    rows.push(rowOf(name, await probing, verdicts, provider.calls.length - callsBefore))
  }
  return rows
}

/** Until connections that the attack before has left in the queue of the system are gone: they delay every new one. */
async function untilAccepting(url: string): Promise<void> {
  const agent = new Agent({ pipelining: 0 })
  for (let tookMs = Number.POSITIVE_INFINITY; tookMs > acceptedInMs; ) {
    const askedMs = performance.now()
    await (await fetch(`${url}/livez`, { dispatcher: agent })).arrayBuffer()
    tookMs = performance.now() - askedMs
  }
  await agent.close()
}

/** In a thread of its own, so that it delays nothing that is measured here. */
async function runAttack(order: Order): Promise<void> {
  await once(new Worker(new URL('./attacker.ts', import.meta.url), { workerData: order }), 'exit')
}

/** A past with tasks as large as any version took them, and events that came after those of the rollouts. */
async function fillHistory(url: string): Promise<void> {
  const database = new Database({ connectionString: url })
  await database.connect()
  try {
    await database.query('SET search_path TO watcher')
    await database.query(
      `INSERT INTO tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
       SELECT gen_random_uuid(), at, at, at, 'large-' || n % 50, 'ada', 'large', (SELECT jsonb_agg(jsonb_build_object(
         'image', rpad('registry.example/' || n || '-' || image, 255, 'x'), 'tag', repeat('v', 255))) FROM generate_series(1, 50) AS image),
         60, true, true, 'deployed'
       FROM (SELECT n, now() - make_interval(mins => n) AS at FROM generate_series(1, $1::integer) AS n) AS moments`,
      [foreignTasks],
    )
    await database.query(
      `INSERT INTO tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
       SELECT gen_random_uuid(), at, at, at, 'past-' || n % 200, 'ada', 'past', '[{"image": "registry.example/past", "tag": "v1"}]',
         60, true, true, 'deployed'
       FROM (SELECT n, now() - make_interval(mins => $1 + n) AS at FROM generate_series(1, $2::integer) AS n) AS moments`,
      [foreignTasks, foreignEvents],
    )
    await database.query(
      `INSERT INTO task_events (task_id, kind, detail) SELECT gen_random_uuid(), 'note', repeat('x', 200) FROM generate_series(1, $1)`,
      [foreignEvents],
    )
    for (let left = 1; left > 0; await delay(100)) {
      const { rows } = await database.query('SELECT count(*)::integer AS left FROM task_events WHERE position IS NULL')
      left = rows[0].left
    }
    await database.query('VACUUM ANALYZE')
  } finally {
    await database.end()
  }
}

async function probe({ service }: BenchWorld, port: number, untilMs: number): Promise<Probes> {
  const residentMiB: number[] = []
  const readyMs: number[] = []
  const agent = new Agent({ pipelining: 0 }) // as kubelet asks: at METRICS_PORT, each time on a connection of its own
  const untilOver = async (everyMs: number, sample: () => Promise<void>) => {
    while (performance.now() < untilMs) {
      await sample()
      await delay(everyMs)
    }
  }
  const sampleMemory = async () => {
    const status = await readFile(`/proc/${service.pid()}/status`, 'utf8')
    residentMiB.push(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
  }
  const askReady = async () => {
    const askedMs = performance.now()
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { dispatcher: agent }).then(
      async (answer) => (await answer.arrayBuffer()) && answer.ok,
      () => false,
    )
    readyMs.push(isReady ? performance.now() - askedMs : Number.POSITIVE_INFINITY)
  }
  await Promise.all([untilOver(sampleMs, sampleMemory), untilOver(probeMs, askReady)])
  await agent.close()
  return { residentMiB, readyMs }
}

/** Lets rollouts end one after the other within the window. @returns how long after each its pipeline knew */
async function endRollouts(
  { service, installation }: BenchWorld,
  { apps, ids }: { readonly apps: readonly string[]; readonly ids: readonly string[] },
  untilMs: number,
): Promise<readonly number[]> {
  const agent = waitingAgent()
  const knownAtMs = Promise.all(ids.map((id) => knowEnd(service.url, id, agent, untilMs + lostAfterMs)))
  const apartMs = (untilMs - performance.now()) / (apps.length + 2)
  for (const app of apps) {
    await delay(apartMs)
    await installation.release([app])
  }
  const known = await knownAtMs
  await agent.close()
  const completed = await installation.completions(apps)
  return known.map((atMs, at) => atMs - (completed[at] ?? Number.NaN))
}

/** Waits as a pipeline does that asks again whatever it was answered. */
async function knowEnd(url: string, id: string, dispatcher: Agent, limitMs: number): Promise<number> {
  while (performance.now() < limitMs) {
    const answer = await fetch(`${url}/api/v1/tasks/${id}?wait=50`, { dispatcher }).catch(() => undefined)
    const task = TaskRecord.safeParse(await answer?.json().catch(() => undefined))
    if (task.success && isFinal(task.data.status)) return Date.now()
    if (!task.success) await delay(100)
  }
  return Number.POSITIVE_INFINITY
}

function rowOf(name: string, { residentMiB, readyMs }: Probes, verdicts: readonly number[], calls: number): string[] {
  const ready = quantilesOf(readyMs)
  const figures = { residentMiB: Math.max(...residentMiB), verdictMs: quantilesOf(verdicts).p99 }
  const holds =
    figures.residentMiB <= bars.residentMiB &&
    figures.verdictMs <= bars.verdictMs &&
    ready.p99 <= bars.readyP99Ms &&
    ready.max <= bars.readyMaxMs
  const shown = [figures.residentMiB, figures.verdictMs, ready.p99, ready.max].map((figure) => figure.toFixed(0))
  return [name, ...shown, String(calls), holds ? 'yes' : 'NO']
}
