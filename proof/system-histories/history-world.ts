import { overrideFile } from '../../simulator/model/example-repository.ts'
import type { LineState } from '../../test/support/fault-proxy.ts'
import type { TestIdentityProvider } from '../../test/support/identity-provider.ts'
import type { Span } from '../../test/support/traffic-log.ts'
import type { World } from '../../test/support/world.ts'
import type { TruthMoment } from './evidence.ts'
import { applications, type ControllerMood } from './plan-history.ts'

export type HistoryWorld = ReturnType<typeof createHistoryWorld>

/** What can be done to the processes, lines, applications and repository of one history. */
export function createHistoryWorld(replicas: World, identity: TestIdentityProvider) {
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
        setLineState(one.lines.database, 'well')
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
      if (control.application(app) !== undefined) control.overridePods(app, newPods && { newPods })
    },
    async heal(): Promise<void> {
      for (const app of applications) if (control.application(app) !== undefined) control.overridePods(app, undefined)
      controllerIsWell()
      argo.faults.clear()
      argo.endStreams('eof') // those that stall go on to
      git.host.setFault(undefined)
      setLineState(gitLine, 'well')
      gitLine.cut() // commands that hang would do so for ever
      setLineState(identity.proxy, 'well')
      for (const { lines } of running) for (const line of Object.values(lines)) setLineState(line, 'well')
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
export function setLineState(line: { mood: LineState; cut(): void } | undefined, mood: LineState): void {
  if (line === undefined) return
  const isHurt = line.mood === 'swallow'
  line.mood = mood
  if (isHurt || mood === 'refuse') line.cut()
}
