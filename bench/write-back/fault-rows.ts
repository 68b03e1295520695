import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { quantilesOf } from '../support/quantiles.ts'
import { atMost, type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, smallSize } from './generated-repository.ts'
import { landedTasks, startDeploymentWorld } from './start-deployment-world.ts'
import { startWriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles } from './task-author.ts'
import { tipOf, verifyRepository } from './verify-repository.ts'
import { breakableSsh } from './wrapped-programs.ts'

const singles = 100
const hookSeconds = 30
const gitSeconds = 5
const landWithinSeconds = 20
const tasksOfEachRound = 40

/** F26: pushes to one repository hang in its hook, while another one is written to. */
export async function hangingHookRows(): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld({ settings: { GIT_OP_TIMEOUT: `${gitSeconds}s` } })
  const { author, host, cachePath } = world
  const [hanging, other] = ['hanging', 'other'].map((name) => host.directory(name)) as [string, string] // two names
  for (const directory of [hanging, other]) await createRepository(directory, smallSize)
  const since = await tipOf(other)
  let tag = 0
  const ended: EndedWrite[] = []
  const measure = async () => {
    const latencies: number[] = []
    for (let at = 0; at < singles; at += 1) {
      tag += 1
      const write = { app: appName(at), tag: `t${tag}`, repository: host.url('other') }
      const found = await author.deploy([write])
      ended.push(...found)
      latencies.push(...found.map(({ latencyMs }) => latencyMs))
    }
    return quantilesOf(latencies)
  }
  await author.deploy([{ app: appName(0), tag: 'warm', repository: host.url('hanging') }])
  await measure()
  const before = await measure()
  const hook = path.join(hanging, 'hooks', 'pre-receive')
  await mkdir(path.dirname(hook), { recursive: true })
  await writeFile(hook, `#!/bin/sh\nexec sleep ${hookSeconds}\n`, { mode: 0o755 })
  const stuck = await author.queue(
    ['a', 'b', 'c'].map((app) => ({ app, tag: 'stuck', repository: host.url('hanging'), seconds: gitSeconds * 4 })),
  )
  await delay(1_000)
  const during = await measure()
  const ends = await author.untilEnded(stuck)
  await delay(gitSeconds * 1_000)
  const left = await runningBelow(cachePath)
  const issues = await verifyRepository(other, { since, landed: landedFiles(ended), foreign: [] })
  const ratio = during.p95 / before.p95
  return [
    told('a hook hangs: its three tasks', ends.map(({ state }) => state).join(', ')),
    exactly('F26: processes left', left.length, 0, left.join('; ').slice(0, 200)),
    atMost(
      'p95 of another repository, ratio',
      ratio,
      1.5,
      'x',
      `${during.p95.toFixed(0)} beside ${before.p95.toFixed(0)} ms`,
    ),
    intact('the other repository', issues),
  ]
}

/** Commands that still work for a cache below `folder`, but for one reader of each cache, which rests before it ends. */
async function runningBelow(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const readers = new Set<string>()
  const found = await Promise.all(
    ids.map(async (id) => {
      const read = (name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '') // it may end meanwhile
      const [environment, command] = await Promise.all([read('environ'), read('cmdline')])
      const isOurs = environment.includes(`GIT_DIR=${folder}`) || command.includes(folder)
      const [directory = ''] = /GIT_DIR=[^\0]*/.exec(environment) ?? []
      const isReader = command.includes('cat-file') && !readers.has(directory)
      if (isReader) readers.add(directory)
      const isKept = isReader || /\[mux\]|server\/main\.ts/.test(command)
      return isOurs && !isKept ? [command.replaceAll('\0', ' ')] : []
    }),
  )
  return found.flat()
}

/** The replica that owns the repository reaches the Git host no longer; the other one does. */
export async function cutOffRows(): Promise<BenchRow[]> {
  await using world = await startDeploymentWorld({ programs: breakableSsh })
  const { host, installation, folder } = world
  const apps = Array.from({ length: tasksOfEachRound * 2 }, (_, at) => `app-${at}`)
  const directory = await world.createRepository('gitops', apps)
  const since = await tipOf(directory)
  await installation.createApplicationsAt(apps, { repoURL: host.url('gitops'), targetRevision: 'main' })
  await world.untilEnded(await world.deploy(apps.slice(0, 1), 'v1')) // the first replica owns the repository from now on
  await world.startReplica({ PATH: process.env.PATH ?? '' })
  await writeFile(path.join(folder, 'is-cut-off'), '')
  const submissions = await world.deploy(apps.slice(1), 'v2', 120)
  await world.untilEnded(submissions)
  await rm(path.join(folder, 'is-cut-off'))
  const landings = await world.rows<{ task_id: string; at: Date }>(
    `SELECT task_id, at FROM watcher.task_events WHERE kind = 'commit_pushed' AND task_id = ANY($1)`,
    [submissions.map(({ id }) => id)],
  )
  const landedAtMs = new Map(landings.map(({ task_id: id, at }) => [id, at.getTime()]))
  const seconds = submissions.map(({ id, postedAtMs }) => ((landedAtMs.get(id) ?? Infinity) - postedAtMs) / 1_000)
  const issues = await verifyRepository(directory, { since, landed: await landedTasks(world), foreign: [] })
  return [
    exactly('the owner of two replicas cut off from the Git host: landed', landings.length, submissions.length),
    atMost('the last of them', Math.max(...seconds), landWithinSeconds, ' s'),
    intact('cut off', issues),
  ]
}
