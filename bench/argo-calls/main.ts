import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { describeMachine } from '../support/describe-machine.ts'
import { pollUntilDeployed } from '../support/fifteen-second-poller.ts'
import { inTurns } from '../support/in-turns.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { type BenchWorld, startBenchWorld } from '../support/start-bench-world.ts'
import { waitForEnd, waitingAgent } from '../support/wait-for-end.ts'
import { countCalls } from './count-calls.ts'

const { values } = parseArgs({
  options: { deployments: { type: 'string', default: '50' }, seconds: { type: 'string', default: '60' } },
})
const deployments = Number(values.deployments)
const progressingSeconds = Number(values.seconds)
const tasksOfOneApplication = [1, 5, 20, 50]
/** Somebody else pushes this long after the task was submitted. */
const lateBySeconds = [3, 12, 40]
const lateApplications = 10

const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
const appsPushedLate = (seconds: number) => namesOf(`late-${seconds}`, lateApplications)
const appWith = (tasks: number) => `with-${tasks}`
const imageOf = (app: string) => `registry.example/${app}:v1`

/** A rollout that stays in progress for a minute, watched by the service. */
async function deployHeld(world: BenchWorld, apps: readonly string[], release: Promise<void>): Promise<void> {
  const { installation, service } = world
  await installation.hold(apps, 'v1')
  const ids = await world.deploy(apps, 'v1')
  const agent = waitingAgent()
  const ended = Promise.all(ids.map((id) => waitForEnd(service.url, id, agent)))
  ended.catch(() => {}) // awaited below
  await installation.untilWaiting(apps)
  await release
  await installation.release(apps)
  await ended
  await agent.close()
}

/** The same, watched by a poller. */
async function pollHeld({ installation, argo }: BenchWorld, apps: readonly string[], release: Promise<void>) {
  await installation.hold(apps, 'v1')
  await installation.commitTags(apps, 'polled-0', 'v1')
  const ended = Promise.all(apps.map((app) => pollUntilDeployed(argo, app, imageOf(app))))
  ended.catch(() => {}) // awaited below
  await installation.untilWaiting(apps)
  await release
  await installation.release(apps)
  await ended
}

/** Pipelines that push after they submit, and how much longer than the rollout itself the verdict took from the push. */
async function deployPushedLate(world: BenchWorld, apps: readonly string[], lateSeconds: number) {
  const { installation, service } = world
  await installation.expectRollout(apps, 'v1')
  const ids = await world.announce(apps, 'v1')
  const agent = waitingAgent()
  const ended = Promise.all(ids.map((id) => waitForEnd(service.url, id, agent)))
  ended.catch(() => {}) // awaited below
  await delay(lateSeconds * 1_000)
  const pushedAtMs = Date.now()
  await installation.commitTags(apps, `late-${lateSeconds}-0`, 'v1')
  const verdicts = await ended
  await agent.close()
  const beginnings = await installation.beginnings(apps)
  const completions = await installation.completions(apps)
  return verdicts.map((atMs, at) => {
    const rolloutMs = (completions[at] ?? Number.NaN) - (beginnings[at] ?? Number.NaN)
    return atMs - pushedAtMs - rolloutMs
  })
}

/** Some tasks at once for one application, each of an image of its own. */
async function deployImages(world: BenchWorld, app: string, count: number): Promise<void> {
  await world.installation.createWithImages(app, count)
  const images = Array.from({ length: count }, (_, at) => `registry.example/${app}-${at}`)
  const ids = await inTurns(images, count, (image) => world.submit(app, image, 'v1', world.withToken))
  const agent = waitingAgent()
  await Promise.all(ids.map((id) => waitForEnd(world.service.url, id, agent)))
  await agent.close()
}

async function main(): Promise<void> {
  process.stdout.write(`${describeMachine()}\n`)
  await using world = await startBenchWorld()
  const { installation } = world
  const [good, stale, polled] = [
    namesOf('good', deployments),
    namesOf('stale', deployments),
    namesOf('polled', deployments),
  ]
  await installation.createApplications(good, 'good')
  await installation.createApplications(stale, 'stale')
  await installation.createApplications(polled, 'polled')
  for (const seconds of lateBySeconds) await installation.createApplications(appsPushedLate(seconds), `late-${seconds}`)
  await installation.clearCallLog()
  // One after another: how many tasks come within a second is the same on a slow machine.
  for (const count of tasksOfOneApplication) await deployImages(world, appWith(count), count)
  await installation.answerOnceWithOlder(stale)
  const release = delay(progressingSeconds * 1_000)
  const pushedLate = lateBySeconds.map((seconds) => deployPushedLate(world, appsPushedLate(seconds), seconds))
  await Promise.all([
    deployHeld(world, good, release),
    deployHeld(world, stale, release),
    pollHeld(world, polled, release),
  ])
  const waits = await Promise.all(pushedLate)
  const log = await installation.callLog()
  const row = (what: string, apps: readonly string[], tasks: number) => {
    const { budgeted, byKind, trees } = countCalls(log, apps)
    const all = budgeted.reduce((sum, count) => sum + count, 0)
    const minutes = (apps.length * progressingSeconds) / 60
    return [
      what,
      String(tasks),
      (all / apps.length).toFixed(2),
      String(Math.max(...budgeted)),
      what.startsWith('one application') ? '' : (trees / minutes).toFixed(1),
      [...byKind].map(([kind, count]) => `${kind} ${count}`).join(', '),
    ]
  }
  const rows = [
    row('good rollout', good, deployments),
    row('first refresh too early', stale, deployments),
    row('15-second poller, good rollout', polled, deployments),
    ...lateBySeconds.map((seconds) =>
      row(`pushed ${seconds} s after the task`, appsPushedLate(seconds), lateApplications),
    ),
    ...tasksOfOneApplication.map((count) => row('one application, its tasks at once', [appWith(count)], count)),
  ]
  const heading = ['calls to Argo CD', 'tasks', 'mean per app', 'most per app', 'trees per minute', 'in all']
  process.stdout.write(`${renderTable(heading, rows)}\n`)
  const waitRows = lateBySeconds.map((seconds, at) => {
    const { p50, max } = quantilesOf(waits[at] ?? [])
    return [`pushed ${seconds} s after the task`, (p50 / 1_000).toFixed(1), (max / 1_000).toFixed(1)]
  })
  const waitHeading = ['from push to verdict, beyond the rollout (s; bar 17)', 'half', 'most']
  process.stdout.write(`\n${renderTable(waitHeading, waitRows)}\n`)
  const sharedCalls = log.filter(({ kind }) => kind === 'stream' || kind === 'list').length
  process.stdout.write(`shared by all: ${sharedCalls} (stream and List)\n${describeMachine()}\n`)
}

await main()
