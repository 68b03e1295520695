import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import type { Mood } from '../support/fault-proxy.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'
import { canaries, createClient } from './client.ts'
import { type Evidence, gatherEvidence, type TruthMoment } from './evidence.ts'
import { followEvents } from './follow-events.ts'
import { observeTasks } from './observe-tasks.ts'
import { applications, type HistoryPlan, replicaCount, type Step } from './plan-history.ts'

/** How long after a heal and the window of the last task everything has to be over (invariant I14). */
const afterWindowMs = 10_000
/** Of two cores that other tests share. */
const slackMs = 3_000
const longestWindowMs = 8_000

/** Runs the choices of a plan against real processes, heals everything, waits for the end and gathers what happened. */
export async function runHistory(plan: HistoryPlan, databaseUrl: string): Promise<Evidence> {
  await using opened = new AsyncDisposableStack()
  // Named by the processes that git starts, so that none can be left behind unnoticed.
  const cacheFolder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-simulate-'))
  opened.defer(() => rm(cacheFolder, { recursive: true, force: true, maxRetries: 5 }))
  const replicas = opened.use(
    await startReplicas({
      databaseUrl,
      count: replicaCount,
      applications,
      seed: plan.seed,
      settings: {
        REPO_CACHE_PATH: cacheFolder,
        WATCHER_DEPLOY_TOKEN: canaries.deployToken,
        APP_GONE_GRACE: '3s',
        BAD_POD_GRACE: '3s',
      },
    }),
  )
  await observeTasks(replicas)
  await runGit(replicas.repositoryFolder, ['config', 'core.logAllRefUpdates', 'always'])
  const follower = followEvents(replicas.running)
  const world = createWorld(replicas)
  const client = createClient(replicas.running)
  const began = performance.now()
  const acting: Promise<unknown>[] = []
  let isHealed = false
  for (const step of plan.steps) {
    await delay(Math.max(0, step.atMs - (performance.now() - began)))
    if (!isHealed && step.atMs >= plan.healAtMs) {
      isHealed = true
      await world.heal()
    }
    acting.push(act(step, client, world))
  }
  await world.heal()
  await Promise.all(acting)
  const healedMs = Date.now()
  const isCalm = await untilCalm(replicas, longestWindowMs + afterWindowMs + slackMs)
  const lastPosition = await newestEvent(replicas)
  for (const limit = performance.now() + 10_000; !follower.hasReached(lastPosition); await delay(50)) {
    if (performance.now() > limit) break
  }
  return await gatherEvidence({
    plan,
    replicas,
    operations: client.history,
    streamed: await follower.stop(),
    truth: await world.truth(),
    isCalm,
    healedMs,
    deaths: world.deaths(),
    cacheFolder,
    secrets: [...Object.values(canaries), ...(await secretsOf(replicas, databaseUrl))],
  })
}

type World = ReturnType<typeof createWorld>
type Client = ReturnType<typeof createClient>

/** What can be done to the processes, lines, applications and repository of one history. */
function createWorld(replicas: Replicas) {
  const { simulator, running, gitLine } = replicas
  const { control, git } = simulator
  const busy = running.map(() => Promise.resolve())
  const truth = new Map<string, TruthMoment[]>(applications.map((app) => [app, []]))
  let deaths = 0
  let rivals = 0

  /** What concerns one process is done one after the other. */
  const inTurn = (replica: number, work: (one: (typeof running)[number]) => Promise<unknown>): Promise<void> => {
    const one = running[replica]
    const done = (busy[replica] ?? Promise.resolve()).then(() => one && work(one)).then(() => undefined)
    busy[replica] = done
    return done
  }
  /** A process that finds no database at its start ends, and is started again by whoever runs it. */
  const start = (replica: number, tries = 3) =>
    inTurn(replica, async (one) => {
      for (let left = tries; left > 0 && !one.isRunning(); left -= 1) {
        setMood(one.lines.database, 'well')
        await one.restart().catch((error: unknown) => {
          if (one.isRunning()) throw error
        })
      }
    })
  const keepTruth = async (app: string) => {
    const known = truth.get(app) ?? []
    const { history = [] } = (await control.truth(app)) ?? {}
    known.push(...history.map((moment, at) => ({ ...moment, untilMs: history[at + 1]?.atMs ?? Date.now() })))
    truth.set(app, known)
  }

  return {
    start,
    kill: (replica: number) =>
      inTurn(replica, async (one) => {
        deaths += 1
        if (one.isRunning()) await one.kill('SIGKILL')
      }),
    stop: (replica: number) =>
      inTurn(replica, async (one) => {
        deaths += 1
        await one.kill('SIGCONT')
        await one.kill('SIGTERM')
      }),
    freeze: (replica: number) => inTurn(replica, (one) => one.kill('SIGSTOP')),
    thaw: (replica: number) => inTurn(replica, (one) => one.kill('SIGCONT')),
    async rival(app: string, writes: 'elsewhere' | 'override'): Promise<void> {
      rivals += 1
      const file = writes === 'elsewhere' ? `notes/${rivals}.md` : `apps/${app}/.argocd-source-${app}.yaml`
      const text = writes === 'elsewhere' ? `${rivals}\n` : `# by hand ${rivals}\n${overrideFile(`rival-${rivals}`)}`
      await git.commit('gitops', { [file]: text }, { message: `rival ${rivals}` })
    },
    annotate: (app: string) =>
      control.editApplication(app, (current) => {
        const annotations = { ...current.metadata.annotations, 'example.org/touched': String(Date.now()) }
        return { ...current, metadata: { ...current.metadata, annotations } }
      }),
    async recreate(app: string): Promise<void> {
      if (control.application(app) === undefined) return
      await keepTruth(app)
      await control.deleteApplication(app)
      if (control.application(app) === undefined) await replicas.createManaged(app)
    },
    pods(app: string, newPods: 'never-ready' | 'image-pull-error' | undefined): void {
      if (control.application(app) !== undefined) control.setMood(app, newPods && { newPods })
    },
    async heal(): Promise<void> {
      for (const app of applications) if (control.application(app) !== undefined) control.setMood(app, undefined)
      setMood(gitLine, 'well')
      for (const { lines } of running) for (const line of Object.values(lines)) setMood(line, 'well')
      for (const one of running) await one.kill('SIGCONT')
      await Promise.all(running.map((_, replica) => start(replica)))
    },
    async truth(): Promise<ReadonlyMap<string, readonly TruthMoment[]>> {
      for (const app of applications) await keepTruth(app)
      return truth
    },
    deaths: () => deaths,
    line: (replica: number, line: 'database' | 'controller') => running[replica]?.lines[line],
    gitLine,
  }
}

/** What a line swallowed does not come later, so the connections it hurt end with the mood. */
function setMood(line: { mood: Mood; cut(): void } | undefined, mood: Mood): void {
  if (line === undefined) return
  const isHurt = line.mood === 'swallow'
  line.mood = mood
  if (isHurt || mood === 'refuse') line.cut()
}

async function act(step: Step, client: Client, world: World): Promise<unknown> {
  switch (step.kind) {
    case 'submit': {
      const { app, tag, credential, timeout } = step
      return client.submit(step.replica, { app, tag, credential, timeout, author: `author-${client.count()}` })
    }
    case 'resend':
      return client.resend(step.replica, step.submission)
    case 'read':
      return client.read(step.replica, step.submission)
    case 'cancel':
      return client.cancel(step.replica, step.submission, step.credential)
    case 'list':
      return client.list(step.replica)
    case 'kill':
    case 'stop':
    case 'start':
    case 'freeze':
    case 'thaw':
      return world[step.kind](step.replica)
    case 'line':
      return setMood(world.line(step.replica, step.line), step.mood)
    case 'cut':
      return world.line(step.replica, step.line)?.cut()
    case 'git_line':
      return setMood(world.gitLine, step.mood)
    case 'cut_git':
      return world.gitLine.cut()
    case 'rival':
      return world.rival(step.app, step.writes)
    case 'annotate':
    case 'recreate':
      return world[step.kind](step.app)
    case 'pods':
      return world.pods(step.app, step.behaviour)
  }
}

/** @returns whether every task has ended and no write-back is open within the limit */
async function untilCalm({ rows, running }: Replicas, limitMs: number): Promise<boolean> {
  const open = `SELECT (SELECT count(*) FROM watcher.tasks WHERE status = 'in progress')
    + (SELECT count(*) FROM watcher.pending_writes WHERE state IN ('queued', 'pushing'))
    + (SELECT count(*) FROM watcher.task_events WHERE position IS NULL)
    + abs((SELECT count(*) FROM watcher.replicas) - ${running.length}) AS open`
  for (const end = performance.now() + limitMs; performance.now() < end; await delay(100)) {
    const [row] = await rows<{ open: string }>(open)
    if (row?.open === '0') return true
  }
  return false
}

async function newestEvent({ rows }: Replicas): Promise<number> {
  const [row] = await rows<{ last: string }>('SELECT last FROM watcher.event_counter')
  return Number(row?.last)
}

async function secretsOf({ simulator }: Replicas, databaseUrl: string): Promise<readonly string[]> {
  const key = (await readFile(simulator.git.keyPath, 'utf8')).split('\n')[1]
  return [simulator.argoToken, new URL(databaseUrl).password, key ?? ''].filter((secret) => secret !== '')
}
