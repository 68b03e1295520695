import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { aTask, type Service, startService, withoutLimits } from '../../test/support/service.ts'
import { describeMachine } from '../support/describe-machine.ts'
import { inTurns } from '../support/in-turns.ts'
import { renderTable } from '../support/render-table.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { startInstallation } from '../support/start-installation.ts'
import { busiestSecond } from './busiest-second.ts'
import { measureTakeover } from './measure-takeover.ts'

const { values: options } = parseArgs({
  options: {
    unfinished: { type: 'string', default: '1000' },
    takeover: { type: 'string', default: '200' },
    'takeover-only': { type: 'boolean', default: false },
  },
})
const unfinished = Number(options.unfinished)
const replicas = 3
const observedMs = 40_000
const deployToken = 'deploy-token-of-the-bench'
/** The rollouts end within 4 s of the kill; where the simulator takes longer the machine is too busy to say anything. */
const voidAfterMs = 6_000

await using postgres = await startBenchPostgres()
await using installation = await startInstallation()
const { remote } = installation
const { argoUrl, argoToken, keyPath, knownHostsPath } = await remote.connection()
const settings = {
  ...withoutLimits,
  ARGO_URL: argoUrl,
  ARGO_TOKEN: argoToken,
  WATCHER_DEPLOY_TOKEN: deployToken,
  SSH_KEY_PATH: keyPath,
  SSH_KNOWN_HOSTS: knownHostsPath,
}
const apps = Array.from({ length: unfinished }, (_, at) => `app-${at}`)

process.stdout.write(`${describeMachine()}\n`)
await tellTakeovers(Number(options.takeover))
if (options['takeover-only']) process.exit(0)
await remote.createApplications(apps, 'apps')
await remote.hold(apps, 'v1')
await killHalfWay()
await remote.clearCallLog()
const startedMs = Date.now()
const resumedMs = await restart()
const log = (await remote.callLog()).filter(({ kind }) => kind !== 'stream')
const calls = log.map(({ atMs }) => atMs - startedMs)
const busiest = busiestSecond(calls)
const heading = [
  'unfinished tasks',
  'all resumed after s',
  'calls in 40 s',
  'in the busiest second',
  'all at once / busiest',
]
const figures = [(resumedMs / 1000).toFixed(1), calls.length, busiest, (unfinished / busiest).toFixed(1)]
process.stdout.write(`${renderTable(heading, [[String(unfinished), ...figures.map(String)]])}\n${describeMachine()}\n`)

/** One of two replicas is killed, on a quiet machine and beside a process that keeps one core busy. */
async function tellTakeovers(count: number): Promise<void> {
  const rows: string[][] = []
  for (const isBusy of [false, true]) {
    const found = await measureTakeover({ remote, databaseUrl: postgres.url, settings, count, isBusy })
    const seconds = [found.lastKnownMs, found.lastCompleteMs].map((ms) => (ms / 1000).toFixed(1))
    rows.push([
      `${count} tasks${isBusy ? ', one core kept busy' : ''}${found.lastCompleteMs > voidAfterMs ? ' (void)' : ''}`,
      ...seconds,
      ...[found.calls, found.busiest].map(String),
    ])
  }
  const titles = [
    'one replica of two killed',
    'last known after s',
    'last complete after s',
    'calls',
    'in any second at most',
  ]
  process.stdout.write(`${renderTable(titles, rows)}\n`)
}

/** All replicas are killed while each task waits for its Pods. */
async function killHalfWay(): Promise<void> {
  await using running = await startReplicas()
  await inTurns([...apps.entries()], 16, async ([at, app]) => {
    const task = aTask({ app, images: [{ image: `registry.example/${app}`, tag: 'v1' }], timeout: 3_600 })
    const answer = await running.at(at).submitTask(task, { 'Watcher-Deploy-Token': deployToken })
    if (answer?.status !== 202) throw new Error(`not accepted: ${JSON.stringify(answer)}`)
  })
  await remote.untilWaiting(apps)
  await running.kill()
}

/** @returns after how many milliseconds the replicas watched all tasks */
async function restart(): Promise<number> {
  await using running = await startReplicas()
  while ((await running.watched()) < unfinished) await delay(200)
  const resumedMs = Date.now() - startedMs
  await delay(startedMs + observedMs - Date.now())
  return resumedMs
}

async function startReplicas() {
  await using started = new AsyncDisposableStack()
  const starting = Array.from({ length: replicas }, () => startService({ databaseUrl: postgres.url, settings }))
  const services = await Promise.all(starting)
  for (const service of services) started.use(service)
  const stack = started.move()
  return {
    at: (index: number) => services[index % replicas] as Service, // as many as there are
    kill: () => Promise.all(services.map((service) => service.kill('SIGKILL'))),
    watched: async () => (await Promise.all(services.map(watchedBy))).reduce((sum, count) => sum + count, 0),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function watchedBy(service: Service): Promise<number> {
  const { body } = await service.request('/metrics')
  return Number(/^in_progress_tasks (\d+)$/m.exec(String(body))?.[1] ?? 0)
}
