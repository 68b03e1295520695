import { parseArgs } from 'node:util'
import { describeMachine } from '../support/describe-machine.ts'
import { type Quantiles, quantilesOf } from '../support/quantiles.ts'
import { renderTable } from '../support/render-table.ts'
import { type BenchWorld, startBenchWorld } from '../support/start-bench-world.ts'
import { endTheRest, type Latencies, measureStage, type Stage, startPollers } from './measure-stage.ts'

const { values } = parseArgs({
  options: {
    unfinished: { type: 'string', default: '1,100,1000,5000' },
    measured: { type: 'string', default: '300' },
  },
})
const tenASecondMs = 100
const burst = 100

type Figures = {
  readonly what: string
  readonly wait: Quantiles
  readonly stream: Quantiles
  readonly poller?: Quantiles
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
      isCommitted: true,
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
  }
}

async function measureOnce(what: string, stage: Stage): Promise<Figures> {
  const { wait, stream } = await measureStage(stage)
  return { what, wait: quantilesOf(wait), stream: quantilesOf(stream) }
}

const unfinished = values.unfinished.split(',').map(Number)
const largest = Math.max(...unfinished)
const measured = Number(values.measured)

async function main(): Promise<void> {
  process.stdout.write(`${describeMachine()}\n`)
  await using world = await startBenchWorld()
  const apps = namesOf('app', largest)
  const polled = namesOf('polled', measured)
  const plain = namesOf('plain', burst)
  await world.installation.createApplications(apps, 'apps')
  await world.installation.createApplications(polled, 'polled')
  await world.installation.createApplications(plain, 'plain')
  const figures: Figures[] = []
  const tell = (found: Figures) => {
    figures.push(found)
    process.stderr.write(`${found.what}: ${JSON.stringify(found)}\n`)
  }
  const once = { world, measured: burst, apps: plain }
  tell(
    await measureOnce(`${burst} unfinished, all end within a second`, {
      ...once,
      tag: 'b',
      apartMs: 1_000 / burst,
      isCommitted: true,
    }),
  )
  tell(
    await measureOnce(`${burst} without a commit, 10 end a second (2 s settle time included)`, {
      ...once,
      tag: 'p',
      apartMs: tenASecondMs,
      isCommitted: false,
    }),
  )
  for (const count of unfinished) tell(await measureRounds(world, apps.slice(0, count), polled))
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
  'poller p50',
  'poller p99',
  'p99: 1/',
]

function rowOf({ what, wait, stream, poller }: Figures): readonly string[] {
  const worst = Math.max(wait.p99, stream.p99)
  const compared = poller ? [poller.p50, poller.p99, Math.floor(poller.p99 / worst)] : []
  return [
    what,
    ...[wait.count, wait.p50, wait.p99, wait.max, stream.p50, stream.p99, stream.max, ...compared].map(String),
  ]
}

function renderGrowth(figures: readonly Figures[]): string {
  const p99At = (count: number) => figures.find(({ what }) => what.startsWith(`${count} unfinished, 10`))?.wait.p99
  const [few, many] = [p99At(100), p99At(1_000)]
  return few && many ? `p99 grows ${(many / few).toFixed(2)} times from 100 to 1,000 unfinished tasks\n` : ''
}

await main()
