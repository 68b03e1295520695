import { atMost, type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, fullSize, overridePath } from './generated-repository.ts'
import { overrideOf } from './override-of.ts'
import { type LoopDelay, readLoopDelay } from './read-loop-delay.ts'
import { commitForeign } from './rival.ts'
import { startWriteBackWorld, type WriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles, type NewWrite } from './task-author.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'

const repository = 'gitops'
const kib = 1_024
/** A larger file is refused. */
const largeBytes = kib * kib - 4 * kib
const maxDelayMs = 50

/** How late the event loop of the pushing replica is while it works on large bursts. */
export async function eventLoopRows(rounds: number): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld()
  const directory = world.host.directory(repository)
  await createRepository(directory, fullSize)
  const since = await tipOf(directory)
  const small = names(0, 500)
  const twenty = names(500, rounds * 100)
  const large = names(1_000, 20)
  const among = [...large, ...names(1_100, 80)]
  const contents = [...twenty.map((app) => [app, 20 * kib] as const), ...large.map((app) => [app, largeBytes] as const)]
  const files = Object.fromEntries(contents.map(([app, bytes]) => [overridePath(app), overrideOf(bytes)]))
  const foreign = await commitForeign(directory, files)
  const writes: EndedWrite[] = []
  const burst = async (apps: readonly string[], tag: string) => {
    const queued = await world.author.queue(writesTo(world, apps, tag), () => readLoopDelay(world.service))
    const ended = await world.author.untilEnded(queued)
    writes.push(...ended)
    return { ended, delay: await readLoopDelay(world.service) }
  }
  await burst([appName(0)], 'warm')
  const smallDelays: LoopDelay[] = []
  const twentyDelays: LoopDelay[] = []
  for (let round = 0; round < rounds; round += 1) {
    smallDelays.push((await burst(small, `s${round}`)).delay)
    twentyDelays.push((await burst(twenty.slice(round * 100, (round + 1) * 100), `t${round}`)).delay)
  }
  const leases = await readLeases(world)
  const withLarge = await burst(among, 'large')
  const lost = (await readLeases(world)).filter((lease) => !leases.includes(lease)).length
  const others = withLarge.ended.filter(({ app }) => !large.includes(app))
  const heavy = withLarge.ended.filter(({ app }) => large.includes(app))
  const issues = await verifyRepository(directory, {
    since,
    landed: landedFiles(writes),
    foreign: foreign === undefined ? [] : [foreign],
  })
  return [
    delayRow('event loop, p99, burst of 500 small files, worst round', smallDelays),
    delayRow('event loop, p99, burst of 100 files of 20 KB, worst round', twentyDelays),
    told(
      'event loop, 20 files of 1 MiB among 100',
      `p99 ${withLarge.delay.p99Ms.toFixed(0)} ms, at most ${withLarge.delay.maxMs.toFixed(0)} ms`,
    ),
    exactly('20 files of 1 MiB among 100: leases lost', lost, 0),
    exactly('of the other 80 landed', others.filter(({ state }) => state === 'landed').length, 80),
    atMost('the last of the other 80 landed', lastMs(others) / 1_000, 10, ' s'),
    told('the 20 themselves', statesOf(heavy)),
    intact('after it', issues),
  ]
}

function delayRow(what: string, delays: readonly LoopDelay[]): BenchRow {
  const note = `at most ${Math.max(...delays.map(({ maxMs }) => maxMs)).toFixed(0)} ms`
  return atMost(what, Math.max(...delays.map(({ p99Ms }) => p99Ms)), maxDelayMs, ' ms', note)
}

const names = (from: number, count: number) => Array.from({ length: count }, (_, at) => appName(from + at))
const lastMs = (ended: readonly EndedWrite[]) => Math.max(...ended.map(({ latencyMs }) => latencyMs))

const statesOf = (ended: readonly EndedWrite[]) =>
  [...Map.groupBy(ended, ({ state, reason }) => `${state} ${(reason ?? '').replace(/apps\/\S+/g, 'the file')}`)]
    .map(([state, found]) => `${found.length} ${state.trim().slice(0, 120)}`)
    .join(', ')

const writesTo = ({ host }: WriteBackWorld, apps: readonly string[], tag: string): NewWrite[] =>
  apps.map((app) => ({ app, tag, repository: host.url(repository) }))

/** Who is alive, and who owns the repository since when: one that is new was lost before. */
async function readLeases({ author }: WriteBackWorld): Promise<readonly string[]> {
  const replicas = await author.database.query.selectFrom('replicas').select('id').execute()
  const owned = await author.database.query.selectFrom('repositories').select(['name', 'owner', 'fence']).execute()
  return [...replicas.map(({ id }) => id), ...owned.map((row) => JSON.stringify(row))]
}
