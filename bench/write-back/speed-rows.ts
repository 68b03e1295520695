import { quantilesOf } from '../support/quantiles.ts'
import { openAncestor } from './ancestor.ts'
import { atLeast, atMost, type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, fullSize, overridePath } from './generated-repository.ts'
import { measureFloor } from './measure-floor.ts'
import { overrideOf } from './override-of.ts'
import { commitForeign } from './rival.ts'
import { startWriteBackWorld, type WriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles, type NewWrite } from './task-author.ts'
import { commitsSince, pushesTo, tipOf, verifyRepository } from './verify-repository.ts'

const repository = 'gitops'
const ancestors = 'ancestors'
const mediumBytes = 5_000
const ancestorsBatch = 20

const medianOf = (values: readonly number[]) => quantilesOf(values).p50
const upTo = (count: number) => Array.from({ length: count }, (_, at) => appName(at))

type Burst = { readonly ms: number; readonly pushes: number; readonly commits: number }

/** How long one write-back and bursts take, beside the ancestor's shape in the same rounds, and the floor. */
export async function speedRows(rounds: number): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld()
  const { host, author } = world
  for (const name of [repository, ancestors]) await createRepository(host.directory(name), fullSize)
  const directory = host.directory(repository)
  const since = await tipOf(directory)
  const medium = Array.from({ length: rounds * 100 }, (_, at) => appName(500 + at))
  const foreign = await commitForeign(
    directory,
    Object.fromEntries(medium.map((app) => [overridePath(app), overrideOf(mediumBytes)])),
  )
  await using ancestor = await openAncestor(host, ancestors)
  const writes: EndedWrite[] = []
  const burst = async (apps: readonly string[], tag: string): Promise<Burst> => {
    const [tip, pushesBefore] = [await tipOf(directory), await pushesTo(directory)]
    const ended = await author.deploy(writesTo(world, apps, tag))
    writes.push(...ended)
    return {
      ms: Math.max(...ended.map(({ latencyMs }) => latencyMs)),
      pushes: (await pushesTo(directory)) - pushesBefore,
      commits: (await commitsSince(directory, tip)).length,
    }
  }
  await burst([appName(0)], 'warm')
  const singles: number[] = []
  const ancestorsSingles: number[] = []
  for (let round = 0; round < rounds * 3; round += 1) {
    singles.push((await burst([appName(round)], `s${round}`)).ms)
    ancestorsSingles.push(await ancestor.deploy([appName(round)], `s${round}`, 1))
  }
  const hundreds: Burst[] = []
  const mediums: Burst[] = []
  const fives: Burst[] = []
  const ancestorsHundreds: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    hundreds.push(await burst(upTo(100), `h${round}`))
    ancestorsHundreds.push(await ancestor.deploy(upTo(100), `h${round}`, ancestorsBatch))
    mediums.push(await burst(medium.slice(round * 100, (round + 1) * 100), `m${round}`))
    fives.push(await burst(upTo(500), `f${round}`))
  }
  const floor = await measureFloor(host, ancestors)
  const issues = await verifyRepository(directory, {
    since,
    landed: landedFiles(writes),
    foreign: foreign === undefined ? [] : [foreign],
  })
  const single = medianOf(singles)
  const hundred = medianOf(hundreds.map(({ ms }) => ms))
  const ancestorsHundred = medianOf(ancestorsHundreds)
  const five = medianOf(fives.map(({ ms }) => ms))
  const ms = (value: number) => `${value.toFixed(0)} ms`
  const beside = (ours: number, theirs: number) => `${ms(ours)} beside ${ms(theirs)}`
  return [
    told(
      'floor: git push of a ready commit, kept connection; new connection',
      `${ms(floor.pushMs)}; ${ms(floor.coldPushMs)}`,
    ),
    told('floor: an empty command over the kept connection', host.kind === 'sshd' ? ms(floor.commandMs) : 'no sshd'),
    told('one write-back / floor', `${(single / floor.pushMs).toFixed(1)}x`),
    atLeast(
      "one write-back, ratio to the ancestor's",
      medianOf(ancestorsSingles) / single,
      3,
      'x',
      beside(single, medianOf(ancestorsSingles)),
    ),
    atLeast(
      'burst of 100, ratio to batches of 20',
      ancestorsHundred / hundred,
      12,
      'x',
      beside(hundred, ancestorsHundred),
    ),
    atMost('burst of 100: pushes', Math.max(...hundreds.map(({ pushes }) => pushes)), 10),
    atMost('burst of 500, median', five, 3_000, ' ms', `at most ${ms(Math.max(...fives.map((found) => found.ms)))}`),
    exactly('bursts of 500 with 500 commits', fives.filter(({ commits }) => commits === 500).length, rounds),
    atMost(
      'burst of 100 files of 5 KB, ratio to small ones',
      medianOf(mediums.map((found) => found.ms)) / hundred,
      2,
      'x',
      ms(medianOf(mediums.map((found) => found.ms))),
    ),
    intact('after it', issues),
  ]
}

const writesTo = ({ host }: WriteBackWorld, apps: readonly string[], tag: string): NewWrite[] =>
  apps.map((app) => ({ app, tag, repository: host.url(repository) }))
