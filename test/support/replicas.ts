import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'pg'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes, type SimulatorTimes } from '../../simulator/model/simulator-times.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { type ConnectionObserver, type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { type Service, startService } from './service.ts'
import { createTrafficLog, observeCalls, type Span, type TrafficLog } from './traffic-log.ts'
import { requireDocumentedCalls, settingsFor } from './world.ts'

export type ReplicasOptions = {
  readonly databaseUrl: string
  readonly count?: number
  readonly times?: Partial<SimulatorTimes>
  readonly seed?: number
  readonly settings?: Readonly<Record<string, string>>
  /** Sees what each replica says to the database. */
  readonly observeDatabase?: (replica: number) => ConnectionObserver
  /** Managed applications of one repository. */
  readonly applications?: readonly string[]
  /** The service's token may read the logs of Pods as well. */
  readonly mayReadLogs?: boolean
}

/** One process of the service, with lines of its own to the database and to the delivery controller. */
export type RunningReplica = Service & {
  readonly lines: { readonly database: FaultProxy; readonly controller: FaultProxy }
  readonly traffic: Pick<TrafficLog, 'callsInTransactions'>
  /** How many tasks it watches. */
  watchedCount(): Promise<number>
}

export type Replicas = Awaited<ReturnType<typeof startReplicas>>

/** Some replicas on one database, with a delivery controller and a Git host that they reach through fault proxies. */
export async function startReplicas({ databaseUrl, count = 2, applications = ['shop'], ...options }: ReplicasOptions) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-replicas-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const times = { ...fastTimes, ...options.times }
  const simulator = started.use(await startSimulator({ folder, times, seed: options.seed ?? 1 }))
  started.defer(() => requireDocumentedCalls(simulator))
  const gitCalls: Span[] = []
  const gitLine = started.use(await startFaultProxy({ port: simulator.git.host.port }, observeCalls(gitCalls)))
  const charts = applications.map((name) => chartFiles(`apps/${name}`, { tag: 'v0' }))
  await simulator.git.createRepository('gitops', Object.assign({ 'README.md': 'ours\n' }, ...charts))
  const repoURL = `ssh://git@127.0.0.1:${gitLine.port}/gitops.git`
  for (const name of applications) await createManagedAt(simulator, repoURL, name)
  const knownHosts = await knownHostsFor(simulator, gitLine.port)
  const databaseLine = { port: Number(new URL(databaseUrl).port) }

  const ownSettings = {
    ...settingsFor(simulator),
    SSH_KNOWN_HOSTS: knownHosts,
    ...(options.mayReadLogs ? { ARGO_TOKEN: simulator.deployerToken } : {}),
    ...options.settings,
  }

  const startReplica = async (replica: number): Promise<RunningReplica> => {
    const traffic = createTrafficLog()
    const observe = () => together(traffic.observeDatabase(), options.observeDatabase?.(replica))
    const database = started.use(await startFaultProxy(databaseLine, observe))
    const argoPort = Number(new URL(simulator.argoUrl).port)
    const controller = started.use(await startFaultProxy({ port: argoPort }, traffic.observeController))
    const settings = { ...ownSettings, ARGO_URL: throughLine(simulator.argoUrl, controller), ...options.settings }
    const service = started.use(await startService({ databaseUrl: throughLine(databaseUrl, database), settings }))
    const lines = { database, controller }
    return Object.assign(service, { lines, traffic, watchedCount: () => watchedCountOf(service) })
  }
  const running = await Promise.all(Array.from({ length: count }, (_, replica) => startReplica(replica)))
  const observerLine = started.use(await startFaultProxy(databaseLine))
  const observer = new Pool({ connectionString: throughLine(databaseUrl, observerLine), max: 2 })
  observer.on('error', () => undefined) // some tests restart the server
  started.defer(() => observer.end())
  const stack = started.move()
  return {
    simulator,
    running,
    /** For one more replica, without lines of its own. */
    settings: ownSettings,
    gitLine,
    /** What all of them asked the Git host. */
    gitCalls: gitCalls as readonly Span[],
    /** The bare repository behind the Git host. */
    repositoryFolder: path.join(folder, 'repositories', 'gitops.git'),
    /** Where the replicas' lines to the database lead; may be changed while they run. */
    databaseLine,
    /** Looks at the database directly, as none of the replicas. */
    async rows<Row extends object>(query: string, values: readonly unknown[] = []): Promise<Row[]> {
      return (await observer.query<Row>(query, [...values])).rows
    },
    createManaged: (name: string) => createManagedAt(simulator, repoURL, name),
    async commits() {
      return (await simulator.git.log('gitops')).filter(({ message }) => message.includes('Watcher-Task: '))
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function createManagedAt(simulator: Simulator, repoURL: string, name: string) {
  return simulator.control.createApplication({
    name,
    source: { repoURL, path: `apps/${name}`, targetRevision: 'main' },
    annotations: {
      'watcher/managed': 'true',
      'watcher/managed-images': `main=registry.example/${name}`,
      'watcher/main.helm.image-tag': 'image.tag',
    },
  })
}

const together = (one: ConnectionObserver, other?: ConnectionObserver): ConnectionObserver =>
  other === undefined
    ? one
    : {
        sent: (chunk) => [one, other].forEach(({ sent }) => void sent(chunk)),
        received: (chunk) => [one, other].forEach(({ received }) => void received(chunk)),
        closed: () => [one, other].forEach(({ closed }) => void closed()),
      }

const throughLine = (url: string, line: FaultProxy) => {
  const address = new URL(url)
  address.port = String(line.port)
  return address.href.replace(/\/$/, '')
}

/** The Git host has the same key behind its line. */
async function knownHostsFor(simulator: Simulator, port: number): Promise<string> {
  const direct = await readFile(simulator.git.knownHostsPath, 'utf8')
  const file = `${simulator.git.knownHostsPath}-of-the-line`
  await writeFile(file, direct.replace(`:${simulator.git.host.port} `, `:${port} `))
  return file
}

async function watchedCountOf(service: Service): Promise<number> {
  const { body } = await service.request('/metrics')
  return Number(/^in_progress_tasks (\d+)$/m.exec(String(body))?.[1])
}
