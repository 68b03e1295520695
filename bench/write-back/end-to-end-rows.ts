import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { quantilesOf } from '../support/quantiles.ts'
import { atMost, type BenchRow, exactly, intact, told } from './bench-row.ts'
import { startRival } from './rival.ts'
import { type DeploymentWorld, landedTasks, type Submission, startDeploymentWorld } from './start-deployment-world.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'
import { noteGitCommands } from './wrapped-programs.ts'

const repository = 'gitops'
const applications = 300
const rivalMs = 1_000
const lookMs = 20

type Part = 'accepted' | 'seen' | 'queued' | 'its turn' | 'landed'
const partNames: readonly Part[] = ['accepted', 'seen', 'queued', 'its turn', 'landed']

const apps = Array.from({ length: applications }, (_, at) => `app-${at}`)

/** Applications of one repository, deployed at once by three spellings of its branch. */
export async function endToEndRows(rounds: number): Promise<BenchRow[]> {
  await using world = await startDeploymentWorld()
  const directory = await createApplications(world)
  const since = await tipOf(directory)
  const latencies: number[] = []
  const parts = new Map(partNames.map((name) => [name, [] as number[]]))
  let losses = 0
  let ended = 0
  for (let round = 1; round <= rounds; round += 1) {
    const found = await deployAll(world, `v${round}`)
    latencies.push(...found.latencies)
    for (const name of partNames) parts.get(name)?.push(...found.parts.map((part) => part[name]))
    losses += found.losses
    ended += found.deployed
  }
  const issues = await verifyRepository(directory, { since, landed: await landedTasks(world), foreign: [] })
  const { p50, p99, max } = quantilesOf(latencies)
  return [
    exactly('deployed at once, three spellings: deployed', ended, apps.length * rounds),
    atMost('POST to landed commit, p99', p99 / 1_000, 10, ' s', `p50 ${seconds(p50)}, at most ${seconds(max)}`),
    ...partNames.map((name) => {
      const { p50: usual, p99: worst } = quantilesOf(parts.get(name) ?? [])
      return told(`part: ${name}, p50, p99`, `${usual.toFixed(0)} ms, ${worst.toFixed(0)} ms`)
    }),
    exactly('races lost among ourselves', losses, 0),
    intact('end to end', issues),
  ]
}

/** The same with a rival, and how often the history of commits is read then. */
export async function endToEndRivalRows(rounds: number): Promise<BenchRow[]> {
  await using world = await startDeploymentWorld({ programs: noteGitCommands })
  const directory = await createApplications(world)
  const since = await tipOf(directory)
  const rival = startRival(directory, rivalMs)
  const latencies: number[] = []
  let ended = 0
  for (let round = 1; round <= rounds; round += 1) {
    const found = await deployAll(world, `v${round}`)
    latencies.push(...found.latencies)
    ended += found.deployed
  }
  await rival.stop()
  const { fetches, commands, ancestry, kinds } = historyCommands(
    await readFile(path.join(world.folder, 'git.log'), 'utf8'),
  )
  const issues = await verifyRepository(directory, { since, landed: await landedTasks(world), foreign: rival.commits })
  const { p50, p99 } = quantilesOf(latencies)
  return [
    exactly('with a rival every second: deployed', ended, apps.length * rounds),
    told('with a rival: POST to landed, p50, p99', `${seconds(p50)}, ${seconds(p99)}`),
    atMost(
      'git processes of the commit history for each of its fetches, the fetch included',
      commands / fetches,
      6,
      '',
      kinds,
    ),
    atMost('of them for ancestry, without reading override files', ancestry / fetches, 6),
    intact('with a rival', issues),
  ]
}

/** A third by the address, a third by another spelling of it, a third by HEAD. */
async function createApplications(world: DeploymentWorld): Promise<string> {
  const { host, installation } = world
  const directory = await world.createRepository(repository, apps)
  await host.allowOtherUrl(repository)
  const third = Math.ceil(apps.length / 3)
  const url = host.url(repository)
  const spellings = [
    { repoURL: url, targetRevision: 'main' },
    { repoURL: host.otherUrl(repository), targetRevision: 'main' },
    { repoURL: url, targetRevision: 'HEAD' },
  ]
  for (const [at, source] of spellings.entries())
    await installation.createApplicationsAt(apps.slice(at * third, (at + 1) * third), source)
  return directory
}

async function deployAll(world: DeploymentWorld, tag: string) {
  await world.installation.expectRollout(apps, tag)
  const turns = followTurns(world)
  const deployed = world.deploy(apps, tag).then(async (submissions) => ({
    submissions,
    ended: await world.untilEnded(submissions),
  }))
  const turnsAtMs = await turns.until(deployed)
  const { submissions, ended } = await deployed
  const landings = await readLandings(world, submissions)
  return {
    deployed: ended.filter(({ status }) => status === 'deployed').length,
    latencies: submissions.map(({ id, postedAtMs }) => (landings.get(id)?.landed ?? Number.NaN) - postedAtMs),
    parts: submissions.map(({ id, postedAtMs, acceptedAtMs }) => {
      const { seen, queued, landed } = landings.get(id) ?? nothing
      const turn = Math.max(turnsAtMs.get(id) ?? landed, queued)
      return {
        accepted: acceptedAtMs - postedAtMs,
        seen: Math.max(0, seen - acceptedAtMs), // often before its client has read the answer
        queued: queued - seen,
        'its turn': turn - queued,
        landed: landed - turn,
      }
    }),
    losses: [...landings.values()].reduce((sum, { tries }) => sum + tries - 1, 0),
  }
}

const nothing = { seen: Number.NaN, queued: Number.NaN, landed: Number.NaN, tries: 1 }

/** Notes when the push of each began. */
function followTurns({ rows }: DeploymentWorld) {
  const turnsAtMs = new Map<string, number>()
  let isOver = false
  const follow = async () => {
    while (!isOver) {
      const pushing = await rows<{ task_id: string; updated: Date }>(
        `SELECT task_id, updated FROM watcher.pending_writes WHERE state = 'pushing'`,
      )
      for (const { task_id: id, updated } of pushing) if (!turnsAtMs.has(id)) turnsAtMs.set(id, updated.getTime())
      await delay(lookMs)
    }
  }
  const following = follow()
  return {
    /** Follows until `work` is done, or has failed. */
    async until(work: Promise<unknown>): Promise<ReadonlyMap<string, number>> {
      await Promise.allSettled([work])
      isOver = true
      await following
      return turnsAtMs
    },
  }
}

async function readLandings({ rows }: DeploymentWorld, submissions: readonly Submission[]) {
  const found = await rows<{ task_id: string; seen: Date; queued: Date; landed: Date; detail: string }>(
    `SELECT task_id, min(at) FILTER (WHERE kind = 'application_confirmed') AS seen,
       min(at) FILTER (WHERE kind = 'write_back_queued') AS queued,
       min(at) FILTER (WHERE kind = 'commit_pushed') AS landed,
       min(detail) FILTER (WHERE kind = 'commit_pushed') AS detail
     FROM watcher.task_events WHERE task_id = ANY($1) GROUP BY task_id`,
    [submissions.map(({ id }) => id)],
  )
  return new Map(
    found.map(({ task_id: id, seen, queued, landed, detail }) => [
      id,
      {
        seen: timeOf(seen ?? queued),
        queued: timeOf(queued),
        landed: timeOf(landed),
        tries: Number(/ at try (\d+)/.exec(detail ?? '')?.[1] ?? 1),
      },
    ]),
  )
}

const timeOf = (at: Date | null) => at?.getTime() ?? Number.NaN

/** Commands in the folders into which commits alone are fetched. */
function historyCommands(log: string) {
  const commands = log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
  const isFetch = (command: string | undefined) => command?.startsWith('fetch ') && command.includes('--filter=tree:0')
  const histories = new Set(commands.filter(([, command]) => isFetch(command)).map(([directory]) => directory))
  const own = commands.filter(([directory, command]) => histories.has(directory) && !command?.startsWith('init '))
  const fetches = own.filter(([, command]) => isFetch(command)).length
  const kinds = [...Map.groupBy(own, ([, command]) => command?.split(' ')[0])]
  return {
    fetches,
    commands: own.length,
    ancestry: own.filter(([, command]) => !/^(ls-tree|cat-file) /.test(command ?? '')).length,
    kinds: kinds.map(([name, found]) => `${found.length} ${name}`).join(', '),
  }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
