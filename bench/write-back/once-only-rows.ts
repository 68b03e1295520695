import { setTimeout as delay } from 'node:timers/promises'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { type BenchRow, exactly, intact, told } from './bench-row.ts'
import { appName, createRepository, overridePath, smallSize } from './generated-repository.ts'
import { type DeploymentWorld, landedTasks, type Submission, startDeploymentWorld } from './start-deployment-world.ts'
import { startWriteBackWorld } from './start-write-back-world.ts'
import { type EndedWrite, landedFiles } from './task-author.ts'
import { commitsSince, tipOf, verifyRepository } from './verify-repository.ts'

const repositories = 8
const maxCutMs = 400
const applications = 40
const roundPauseMs = 1_500
/** Tasks of so many seconds at the shortest: some end while their push is under way. */
const shortestSeconds = 4
const longestSeconds = 20
const chanceOfOutage = 0.35
const longestOutageMs = 5_000

/** F27: every write's commit is on the branch once, whenever the line breaks. */
export async function cutRows(wanted: number): Promise<BenchRow[]> {
  await using world = await startWriteBackWorld()
  const { author, host } = world
  await using line = await startFaultProxy({ port: host.port })
  const names = Array.from({ length: repositories }, (_, at) => `repository-${at}`)
  const since = new Map<string, string>()
  for (const name of names) {
    await createRepository(host.directory(name), smallSize)
    since.set(name, await tipOf(host.directory(name)))
  }
  const ended: EndedWrite[] = []
  let cut = 0
  for (let round = 0; cut < wanted; round += 1) {
    const app = appName(round % smallSize.applications)
    const writes = names.map((name) => ({ app, tag: `c${round}`, repository: host.url(name, line.port) }))
    const queued = await author.queue(writes)
    await delay(Math.random() * maxCutMs)
    const ids = queued.map(({ taskId }) => taskId)
    const [pushing] = await Promise.all([author.openCount(ids, ['pushing']), line.cut()])
    cut += pushing
    ended.push(...(await author.untilEnded(queued)))
  }
  let doubled = 0
  let missing = 0
  const issues: string[] = []
  for (const name of names) {
    const directory = host.directory(name)
    const own = ended.filter(({ repository }) => repository === host.url(name, line.port))
    const commits = await commitsSince(directory, since.get(name) ?? '')
    const counts = new Map(
      [
        ...Map.groupBy(
          commits.flatMap(({ tasks }) => tasks),
          (id) => id,
        ),
      ].map(([id, all]) => [id, all.length]),
    )
    doubled += [...counts.values()].filter((count) => count > 1).length
    missing += own.filter(({ taskId }) => !counts.has(taskId)).length
    issues.push(
      ...(await verifyRepository(directory, { since: since.get(name) ?? '', landed: landedFiles(own), foreign: [] })),
    )
  }
  return [
    told('pushes cut at a random moment, of so many writes', `${cut} of ${ended.length}`),
    exactly('F27: doubled', doubled, 0),
    exactly('F27: missing', missing, 0),
    intact('F27', issues),
  ]
}

/** Tasks that are superseded or end at their deadline while the line breaks leave no commit that is not theirs. */
export async function endingRows(wanted: number): Promise<BenchRow[]> {
  await using world = await startDeploymentWorld()
  await using line = await startFaultProxy({ port: world.host.port })
  const apps = Array.from({ length: applications }, (_, at) => `app-${at}`)
  const directory = await world.createRepository('gitops', apps)
  await world.installation.createApplicationsAt(apps, {
    repoURL: world.host.url('gitops', line.port),
    targetRevision: 'main',
  })
  const since = await tipOf(directory)
  const submissions: Submission[] = []
  let outages = 0
  for (let round = 0; submissions.length < wanted; round += 1) {
    const some = apps.filter(() => Math.random() < 0.8).slice(0, wanted - submissions.length)
    const seconds = shortestSeconds + Math.floor(Math.random() * (longestSeconds - shortestSeconds))
    submissions.push(...(await world.deploy(some, `v${round}`, seconds)))
    if (Math.random() < chanceOfOutage) {
      outages += 1
      line.mood = Math.random() < 0.5 ? 'refuse' : 'swallow'
      if (Math.random() < 0.5) line.cut()
      await delay(Math.random() * longestOutageMs)
      line.cut()
      line.mood = 'well'
    }
    await delay(Math.random() * roundPauseMs)
  }
  const ended = await world.untilEnded(submissions)
  const commits = await commitsSince(directory, since)
  const named = await landedTasks(world)
  const unsure = await unsureTasks(world, commits)
  const landed = new Map([...named, ...unsure])
  const issues = await verifyRepository(directory, { since, landed, foreign: [] })
  const statuses = [...Map.groupBy(ended, ({ status }) => status)].map(([status, all]) => `${all.length} ${status}`)
  const known = new Set(submissions.map(({ id }) => id))
  const unasked = commits.filter(({ tasks }) => !tasks.some((id) => known.has(id) && landed.has(id)))
  const without = ended.filter(({ status, id }) => status === 'deployed' && !landed.has(id))
  return [
    told(
      'tasks, with superseding, deadlines and outages',
      `${submissions.length}, ${outages} outages: ${statuses.join(', ')}`,
    ),
    exactly('commits that no task asked for or was told of', unasked.length, 0),
    exactly('older commits on top of newer ones', await countStepsBack(world, commits), 0),
    told('commits of tasks that were told at their deadline that it may have arrived', `${unsure.size}`),
    told('deployed without a commit of their own', `${without.length}`),
    intact('2,000 tasks', issues),
  ]
}

/** Tasks with a commit whose push had no answer before their deadline, and which were told so. */
async function unsureTasks(
  { rows }: DeploymentWorld,
  commits: Awaited<ReturnType<typeof commitsSince>>,
): Promise<ReadonlyMap<string, string>> {
  const found = await rows<{ id: string; app: string }>(
    `SELECT DISTINCT t.id, t.app FROM watcher.tasks t JOIN watcher.task_events e ON e.task_id = t.id
     WHERE e.kind = 'write_back_skipped' AND e.detail LIKE 'whether the commit arrived is not known%'
       AND t.id = ANY($1)`,
    [commits.flatMap(({ tasks }) => tasks)],
  )
  return new Map(found.map(({ id, app }) => [id, overridePath(app)]))
}

/** Of the commits of one application each belongs to a task that was accepted after the one before. */
async function countStepsBack(
  { rows }: DeploymentWorld,
  commits: Awaited<ReturnType<typeof commitsSince>>,
): Promise<number> {
  const found = await rows<{ id: string; app: string; place: string }>(
    'SELECT id, app, row_number() OVER (ORDER BY created, id) AS place FROM watcher.tasks',
  )
  const tasks = new Map(found.map(({ id, app, place }) => [id, { app, place: Number(place) }]))
  const newest = new Map<string, number>()
  let back = 0
  for (const id of commits.flatMap((commit) => commit.tasks)) {
    const { app, place } = tasks.get(id) ?? { app: '', place: 0 }
    if (place < (newest.get(app) ?? 0)) back += 1
    newest.set(app, Math.max(place, newest.get(app) ?? 0))
  }
  return back
}
