import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import type { Mood } from '../support/fault-proxy.ts'
import { reserveIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts'
import { type Replicas, startReplicas } from '../support/replicas.ts'
import type { Span } from '../support/traffic-log.ts'
import { canaries, createClient } from './client.ts'
import { type Evidence, gatherEvidence, type TruthMoment } from './evidence.ts'
import { followEvents } from './follow-events.ts'
import { observeTasks } from './observe-tasks.ts'
import { applications, type ControllerMood, type HistoryPlan, replicaCount, type Step } from './plan-history.ts'

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
  const identity = opened.use(await reserveIdentityProvider())
  identity.users.set('ada', {})
  await identity.start('http://127.0.0.1:1')
  const accessToken = await identity.issueOpaqueToken('ada')
  const replicas = opened.use(
    await startReplicas({
      databaseUrl,
      count: replicaCount,
      applications,
      seed: plan.seed,
      settings: {
        ...identity.settings,
        REPO_CACHE_PATH: cacheFolder,
        GIT_OP_TIMEOUT: '5s',
        WATCHER_DEPLOY_TOKEN: canaries.deployToken,
        APP_GONE_GRACE: '3s',
        BAD_POD_GRACE: '3s',
      },
    }),
  )
  await observeTasks(replicas)
  await runGit(replicas.repositoryFolder, ['config', 'core.logAllRefUpdates', 'always'])
  const follower = followEvents(replicas.running)
  const world = createWorld(replicas, identity)
  const client = createClient(replicas.running, accessToken)
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
    callsInTransactions: callsInTransactions(replicas, world.frozen),
    cacheFolder,
    secrets: [...Object.values(canaries), accessToken, ...(await secretsOf(replicas, databaseUrl))],
  })
}

type World = ReturnType<typeof createWorld>
type Client = ReturnType<typeof createClient>

/** What can be done to the processes, lines, applications and repository of one history. */
function createWorld(replicas: Replicas, identity: TestIdentityProvider) {
  const { simulator, running, gitLine } = replicas
  const { control, controller, git, argo } = simulator
  const { faults } = controller
  const busy = running.map(() => Promise.resolve())
  const truth = new Map<string, TruthMoment[]>(applications.map((app) => [app, []]))
  /** By replica: when it stood still. The last may not be over. */
  const frozen: { fromMs: number; toMs: number }[][] = running.map(() => [])
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
  const thaw = (replica: number) =>
    inTurn(replica, async (one) => {
      await one.kill('SIGCONT')
      for (const span of frozen[replica] ?? []) span.toMs = Math.min(span.toMs, performance.now())
    })
  const controllerIsWell = () => {
    faults.hangRefresh.clear()
    faults.failSync.clear()
    faults.olderRevision.clear()
    for (const replica of controller.replicas) replica.release('events')
  }
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
    freeze: (replica: number) =>
      inTurn(replica, (one) => {
        frozen[replica]?.push({ fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY })
        return one.kill('SIGSTOP')
      }),
    thaw,
    frozen: frozen as readonly (readonly Span[])[],
    async rival(app: string, writes: 'elsewhere' | 'override'): Promise<void> {
      rivals += 1
      const file = writes === 'elsewhere' ? `notes/${rivals}.md` : `apps/${app}/.argocd-source-${app}.yaml`
      const text = writes === 'elsewhere' ? `${rivals}\n` : `# by hand ${rivals}\n${overrideFile(`rival-${rivals}`)}`
      await git.commit('gitops', { [file]: text }, { message: `rival ${rivals}` })
    },
    controllerAnswers: argo.faults.add,
    controllerStreams: (how: Parameters<typeof argo.endStreams>[0] | 'stall') =>
      how === 'stall' ? argo.stallStreams() : argo.endStreams(how),
    controllerMood(app: string, mood: ControllerMood): void {
      const key = `${controller.namespace}/${app}`
      if (mood === 'refreshes hang') faults.hangRefresh.add(key)
      if (mood === 'syncs fail') faults.failSync.set(key, 'admission webhook "rules" denied the request')
      if (mood === 'comparisons see the commit before') faults.olderRevision.set(key, 3)
      for (const replica of controller.replicas) {
        if (mood === 'events are lost') replica.loseEvents(5)
        if (mood === 'events come twice') replica.duplicateEvents(5)
        if (mood === 'caches stand still') replica.hold()
      }
      if (mood === 'well') controllerIsWell()
    },
    setGitFault: git.host.setFault,
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
      controllerIsWell()
      argo.faults.clear()
      argo.endStreams('eof') // those that stall go on to
      git.host.setFault(undefined)
      setMood(gitLine, 'well')
      gitLine.cut() // commands that hang would do so for ever
      setMood(identity.proxy, 'well')
      for (const { lines } of running) for (const line of Object.values(lines)) setMood(line, 'well')
      await Promise.all(running.map((_, replica) => thaw(replica)))
      await Promise.all(running.map((_, replica) => start(replica)))
    },
    async truth(): Promise<ReadonlyMap<string, readonly TruthMoment[]>> {
      for (const app of applications) await keepTruth(app)
      return truth
    },
    deaths: () => deaths,
    line: (replica: number, line: 'database' | 'controller') => running[replica]?.lines[line],
    gitLine,
    identityLine: identity.proxy,
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
      const { app, tag, credential, timeout, isKeyed } = step
      const key = isKeyed ? `key-of-${tag}` : undefined
      return client.submit(step.replica, { app, tag, credential, timeout, key, author: client.nextAuthor() })
    }
    case 'resend':
      return client.resend(step.replica, step.submission, step.isChanged)
    case 'read':
      return client.read(step.replica, step.submission)
    case 'cancel':
      return client.cancel(step.replica, step.submission, step.credential)
    case 'list':
      return client.list(step.replica)
    case 'lock':
      return client.setLock(step.replica)
    case 'unlock':
      return client.releaseLock(step.replica)
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
    case 'git_host':
      return world.setGitFault(step.fault, step.times)
    case 'identity_line':
      return setMood(world.identityLine, step.mood)
    case 'controller_answers':
      return world.controllerAnswers(step.fault)
    case 'controller_streams':
      return world.controllerStreams(step.how)
    case 'controller_mood':
      return world.controllerMood(step.app, step.mood)
    case 'rival':
      return world.rival(step.app, step.writes)
    case 'annotate':
    case 'recreate':
      return world[step.kind](step.app)
    case 'pods':
      return world.pods(step.app, step.behaviour)
  }
}

function callsInTransactions({ running, gitCalls }: Replicas, frozen: readonly (readonly Span[])[]) {
  return running.flatMap(({ traffic }, replica) =>
    traffic
      .callsInTransactions(gitCalls, frozen[replica])
      .map(({ fromMs, toMs }) => ({ replica, ms: Math.round(toMs - fromMs) })),
  )
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
