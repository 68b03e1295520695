import { setTimeout as delay } from 'node:timers/promises'
import { mergeOverrideFile } from '../../server/gitops/plan/merge-override-file.ts'
import { quantilesOf } from '../support/quantiles.ts'
import { atMost, type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, fullSize, overridePath } from './generated-repository.ts'
import { hostileFiles } from './hostile-files.ts'
import { overrideOf } from './override-of.ts'
import { type LoopDelay, readLoopDelay, readResidentMib } from './read-loop-delay.ts'
import { commitForeign } from './rival.ts'
import { startWriteBackWorld, type WriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles, type NewWrite } from './task-author.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'

const repository = 'gitops'
const kib = 1_024
const maxDelayMs = 100
const maxProbeMs = 500
const maxGrownMib = 50
const probeMs = 20

/** How late the event loop of the pushing replica is while it works on large bursts. */
export async function eventLoopRows(rounds: number): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld()
  const directory = world.host.directory(repository)
  await createRepository(directory, fullSize)
  const since = await tipOf(directory)
  const small = names(0, 500)
  const twenty = names(500, rounds * 100)
  const hostile = names(1_000, hostileFiles.length)
  const among = [...hostile, ...names(1_100, 80)]
  const files = Object.fromEntries([
    ...twenty.map((app) => [overridePath(app), overrideOf(20 * kib)]),
    ...hostile.map((app, at) => [overridePath(app), hostileFiles[at] ?? '']),
  ])
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
  const residentMib = await readResidentMib(world.service)
  const probes = startProbes(world.service.url)
  const withHostile = await burst(among, 'hostile')
  const slowestMs = await probes.stop()
  const grownMib = (await readResidentMib(world.service)) - residentMib
  const lost = (await readLeases(world)).filter((lease) => !leases.includes(lease)).length
  const others = withHostile.ended.filter(({ app }) => !hostile.includes(app))
  const heavy = withHostile.ended.filter(({ app }) => hostile.includes(app))
  const issues = await verifyRepository(directory, {
    since,
    landed: landedFiles(writes),
    foreign: foreign === undefined ? [] : [foreign],
  })
  return [
    atMost('processor time of one edit, file of 20 KB', editMs([overrideOf(20 * kib)]), maxDelayMs, ' ms'),
    atMost('processor time of one edit, hostile files, at most', editMs(hostileFiles), maxProbeMs, ' ms'),
    delayRow('event loop, p99, burst of 500 small files, worst round', smallDelays),
    delayRow('event loop, p99, burst of 100 files of 20 KB, worst round', twentyDelays),
    told(
      `event loop, ${hostile.length} hostile files of 256 KiB among 80 small ones`,
      `p99 ${withHostile.delay.p99Ms.toFixed(0)} ms, at most ${withHostile.delay.maxMs.toFixed(0)} ms`,
    ),
    atMost('beside the hostile files: /livez, slowest', slowestMs, maxProbeMs, ' ms'),
    atMost('beside the hostile files: resident memory grown', grownMib, maxGrownMib, ' MiB'),
    exactly('beside the hostile files: leases lost', lost, 0),
    exactly('of the other 80 landed', others.filter(({ state }) => state === 'landed').length, 80),
    atMost('the last of the other 80 landed', lastMs(others) / 1_000, 10, ' s'),
    told('the hostile files themselves', statesOf(heavy)),
    intact('after it', issues),
  ]
}

/** Asks for the cheapest answer again and again, and says how long the slowest took. */
function startProbes(url: string) {
  let isOver = false
  const probe = async () => {
    let slowestMs = 0
    while (!isOver) {
      const askedMs = performance.now()
      await (await fetch(`${url}/livez`)).arrayBuffer()
      slowestMs = Math.max(slowestMs, performance.now() - askedMs)
      await delay(probeMs)
    }
    return slowestMs
  }
  const probing = probe()
  return {
    stop(): Promise<number> {
      isOver = true
      return probing
    },
  }
}

/** How long the event loop stands still on a machine that has nothing else to do: the slowest file, the median of its edits. */
function editMs(texts: readonly string[]): number {
  const costOf = (text: string) => {
    const before = process.cpuUsage()
    mergeOverrideFile(text, [{ name: 'image.tag', value: 'v9' }], [], 'helm')
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  return Math.max(...texts.map((text) => quantilesOf(Array.from({ length: 15 }, () => costOf(text))).p50))
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
