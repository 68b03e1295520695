import path from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../support/describe-machine.ts'
import { loadEvents } from '../support/load-history.ts'
import { type Quantiles, quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { type BenchWorld, startBenchWorld } from '../support/start-bench-world.ts'
import { startRival } from '../write-back/rival.ts'
import { endTheRest, type Latencies, measureStage, type Stage, startPollers } from './measure-stage.ts'
import { measureBesideTargets } from './measure-targets.ts'

const { values } = parseArgs({
  options: {
    unfinished: { type: 'string', default: '1,100,1000,5000' },
    measured: { type: 'string', default: '300' },
    only: { type: 'string', default: 'bursts,rival,many,unfinished,targets' },
  },
})
const tenASecondMs = 100
const burst = 100
/** 1,000 rollouts that end within 15 s. */
const many = 1_000
const manyApartMs = 15
/** Few enough that the simulator, which compares all with each commit, leaves the service time to push. */
const besideRival = 200
const rivalEveryMs = 500
const openStreams = 50
const olderEvents = 200_000
/** Beyond this the simulator was too busy for a figure to mean anything. */
const maxSimulatorDelayMs = 100

type Figures = {
  readonly what: string
  readonly wait: Quantiles
  readonly stream: Quantiles
  readonly poller?: Quantiles
  readonly simulatorDelayMs: number
}

const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

/** As often as needed until enough ends are measured; each round starts with the full number of unfinished tasks. */
async function measureRounds(world: BenchWorld, apps: readonly string[], polled: readonly string[]): Promise<Figures> {
  const tag = `s${apps.length}`
  const pollers = await startPollers(world, polled, tag)
  const found: Latencies[] = []
  for (let done = 0; done < polled.length; ) {
    const measured = Math.min(apps.length, polled.length - done)
    const start = done
    const stage: Stage = {
      world,
      tag: `${tag}-${start}`,
      apps,
      measured,
      apartMs: tenASecondMs,
      kind: 'committed',
      onRelease: (at) => pollers.release(start + at),
    }
    found.push(await measureStage(stage))
    if (apps.length < largest) await endTheRest(stage)
    done += measured
  }
  return {
    what: `${apps.length} unfinished, 10 end a second`,
    wait: quantilesOf(found.flatMap(({ wait }) => wait)),
    stream: quantilesOf(found.flatMap(({ stream }) => stream)),
    poller: quantilesOf(await pollers.latencies()),
    simulatorDelayMs: Math.max(...found.map(({ simulatorDelayMs }) => simulatorDelayMs)),
  }
}

async function measureOnce(what: string, stage: Stage): Promise<Figures> {
  const { wait, stream, simulatorDelayMs } = await measureStage(stage)
  return { what, wait: quantilesOf(wait), stream: quantilesOf(stream), simulatorDelayMs }
}

const unfinished = values.unfinished.split(',').map(Number)
const largest = Math.max(...unfinished)
const measured = Number(values.measured)
const parts = values.only.split(',')

async function measureBursts(world: BenchWorld, tell: (found: Figures) => void): Promise<void> {
  const plain = namesOf('plain', burst)
  await world.installation.createApplications(plain, 'plain')
  const once = { world, measured: burst, apps: plain, repository: 'plain-0' }
  const atOnce: Stage = { ...once, tag: 'b', apartMs: 1_000 / burst, kind: 'committed' }
  tell(await measureOnce(`${burst} unfinished, all end within a second`, atOnce))
  const announced: Stage = { ...once, tag: 'p', apartMs: tenASecondMs, kind: 'announced' }
  tell(await measureOnce(`${burst} without a commit, 10 end a second`, announced))
}

/** The commits of the tasks lie below those of another writer: what is applied is compared with them in Git. */
async function measureBesideRival(world: BenchWorld, tell: (found: Figures) => void): Promise<void> {
  const apps = namesOf('rivalled', besideRival)
  await world.installation.createApplications(apps, 'rivalled')
  const { repositories } = await world.installation.connection()
  const rival = startRival(path.join(repositories, 'rivalled-0.git'), rivalEveryMs)
  const stage: Stage = { world, apps, tag: 'r', measured: besideRival, apartMs: manyApartMs, kind: 'committed' }
  tell(await measureOnce(`${besideRival} with a commit beside a rival, 67 end a second`, stage))
  await rival.stop()
}

async function measureMany(world: BenchWorld, tell: (found: Figures) => void): Promise<void> {
  const apps = namesOf('many', many)
  await world.installation.createApplications(apps, 'many', { perRepository: many })
  const stage = { world, apps, measured: many, apartMs: manyApartMs, repository: 'many-0' }
  tell(await measureOnce(`${many} with a commit, 67 end a second`, { ...stage, tag: 'm1', kind: 'committed' }))
  tell(await measureOnce(`${many} without a commit, 67 end a second`, { ...stage, tag: 'm2', kind: 'announced' }))
  tell(
    await measureOnce(`${many} without a commit, 67 are rolled out a second`, { ...stage, tag: 'm3', kind: 'noticed' }),
  )
  await loadEvents(world.databaseUrl, olderEvents)
  const streams = `${openStreams} task streams, ${olderEvents} older events`
  const withStreams = { ...stage, taskStreams: openStreams }
  tell(await measureOnce(`67 end a second, ${streams}`, { ...withStreams, tag: 'm4', kind: 'announced' }))
  tell(await measureOnce(`67 are rolled out a second, ${streams}`, { ...withStreams, tag: 'm5', kind: 'noticed' }))
}

async function measureUnfinished(world: BenchWorld, tell: (found: Figures) => void): Promise<void> {
  const apps = namesOf('app', largest)
  const polled = namesOf('polled', measured)
  await world.installation.createApplications(apps, 'apps')
  await world.installation.createApplications(polled, 'polled')
  for (const count of unfinished) tell(await measureRounds(world, apps.slice(0, count), polled))
}

async function main(): Promise<void> {
  process.stdout.write(`${describeMachine()}\n`)
  if (parts.includes('targets')) process.stdout.write(`${await measureBesideTargets()}\n`)
  if (parts.every((part) => part === 'targets')) return
  await using world = await startBenchWorld()
  const figures: Figures[] = []
  const tell = (found: Figures) => {
    figures.push(found)
    process.stderr.write(`${found.what}: ${JSON.stringify(found)}\n`)
  }
  if (parts.includes('bursts')) await measureBursts(world, tell)
  if (parts.includes('rival')) await measureBesideRival(world, tell)
  if (parts.includes('many')) await measureMany(world, tell)
  if (parts.includes('unfinished')) await measureUnfinished(world, tell)
  process.stdout.write(`${renderTable(heading, figures.map(rowOf))}\n${renderGrowth(figures)}${describeMachine()}\n`)
}

const heading = [
  'milliseconds from complete to known',
  'ends',
  'wait p50',
  'wait p99',
  'wait max',
  'stream p50',
  'stream p99',
  'stream max',
  'worse p99, bar 500',
  'simulator loop delay p99',
  'poller p50',
  'poller p99',
  'p99: 1/',
]

function rowOf({ what, wait, stream, poller, simulatorDelayMs }: Figures): readonly string[] {
  const worst = Math.max(wait.p99, stream.p99)
  const isVoid = simulatorDelayMs > maxSimulatorDelayMs
  const compared = poller ? [poller.p50, poller.p99, Math.floor(poller.p99 / worst)] : []
  return [
    what,
    ...[wait.count, wait.p50, wait.p99, wait.max, stream.p50, stream.p99, stream.max].map(String),
    isVoid ? 'void: the simulator was too busy' : String(worst),
    simulatorDelayMs.toFixed(0),
    ...compared.map(String),
  ]
}

function renderGrowth(figures: readonly Figures[]): string {
  const p99At = (count: number) => figures.find(({ what }) => what.startsWith(`${count} unfinished, 10`))?.wait.p99
  const [few, many] = [p99At(100), p99At(1_000)]
  return few && many ? `p99 grows ${(many / few).toFixed(2)} times from 100 to 1,000 unfinished tasks\n` : ''
}

await main()
