import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'pg'
import type { Browser } from 'playwright-core'
import type { TaskSubmission } from '../../contract/task.ts'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes, type SimulatorTimes } from '../../simulator/model/simulator-times.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { launchBrowser, type OpenOptions, openPage } from './browser.ts'
import { createTestDatabase } from './database.ts'
import { type ConnectionObserver, type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { createHttpBrowser, type HttpBrowser } from './http-browser.ts'
import { reserveIdentityProvider, type TestIdentityProvider } from './identity-provider.ts'
import { aTask, type Service, startService } from './service.ts'
import { createTrafficLog, observeCalls, type Span, type TrafficLog } from './traffic-log.ts'

/** What pipelines of these tests send. */
export const deployToken = 'deploy-token-of-the-tests'
export const withToken = { 'Watcher-Deploy-Token': deployToken }

/**
 * `argo cd`: a simulated delivery controller and a real Git repository behind real SSH. `provider`: an identity provider.
 * `lines`: a fault proxy before all that a replica talks to. `browser`: a Chromium that opens the pages.
 */
export type Part = 'argo cd' | 'provider' | 'lines' | 'browser'

export type WorldOptions = {
  readonly parts?: readonly Part[]
  readonly replicas?: number
  /** As in docs/settings.md. */
  readonly settings?: Readonly<Record<string, string>>
  /** A database of the caller; else one of the world's own. */
  readonly databaseUrl?: string
  readonly times?: Partial<SimulatorTimes>
  readonly seed?: number
  /** Managed applications of one repository, each with a Deployment of `registry.example/<name>:v0`. */
  readonly applications?: readonly string[]
  /** The service's token may read the logs of Pods as well. */
  readonly mayReadLogs?: boolean
  /** Sees what each replica says to the database, on its line. */
  readonly observeDatabase?: (replica: number) => ConnectionObserver
}

type Opening = OpenOptions & {
  /** The user who has signed in. */
  readonly as?: HttpBrowser | undefined
  /** Of another replica, or of a line to one; else of the first. */
  readonly url?: string
}

export type World = Awaited<ReturnType<typeof startWorld>>
/** One process of the service. */
export type Replica = Service & {
  readonly lines: { readonly database: FaultProxy; readonly controller: FaultProxy }
  readonly traffic: Pick<TrafficLog, 'callsInTransactions'>
  /** How many tasks it watches. */
  watchedCount(): Promise<number>
}

/** Users of this group may act in a world with pages. */
const privilegedGroup = 'platform'

/** The real service, with the parts of its surroundings that a test needs. */
export async function startWorld({ parts = ['argo cd'], replicas: count = 1, ...options }: WorldOptions = {}) {
  await using started = new AsyncDisposableStack()
  const has = (part: Part) => parts.includes(part)
  const databaseUrl = options.databaseUrl ?? started.use(await createTestDatabase()).url
  const databaseLine = { port: portOf(databaseUrl) }
  const pages = has('browser') ? ofPages : {}
  const argoCd = has('argo cd')
    ? started.use(await startArgoCd({ ...options, times: { ...pages.times, ...options.times }, hasLine: has('lines') }))
    : withoutArgoCd
  const idp = has('provider') ? started.use(await reserveIdentityProvider()) : absent<TestIdentityProvider>('provider')
  const mayReadLogs = options.mayReadLogs ?? has('browser')
  const settings = {
    ...argoCd.argoCdSettings,
    WATCHER_DEPLOY_TOKEN: deployToken,
    ...(mayReadLogs ? { ARGO_TOKEN: argoCd.simulator.deployerToken } : {}),
    ...(has('provider') ? idp.settings : {}),
    ...pages.settings,
    ...options.settings,
  }

  async function startOnLines(replica: number): Promise<Replica> {
    const traffic = createTrafficLog()
    const observe = () => together(traffic.observeDatabase(), options.observeDatabase?.(replica))
    const database = started.use(await startFaultProxy(databaseLine, observe))
    const { argoUrl } = argoCd.simulator
    const controller = started.use(await startFaultProxy({ port: portOf(argoUrl) }, traffic.observeController))
    const service = await startService({
      databaseUrl: throughLine(databaseUrl, database),
      settings: { ...settings, ARGO_URL: throughLine(argoUrl, controller), ...options.settings },
    })
    return asReplica(started.use(service), { database, controller }, traffic)
  }

  async function startOne(replica: number): Promise<Replica> {
    if (has('lines')) return startOnLines(replica)
    const service = started.use(await startService({ databaseUrl, settings }))
    return asReplica(service, absent('lines'), absent('lines'))
  }
  const running = await Promise.all(Array.from({ length: count }, (_, replica) => startOne(replica)))
  const service = running[0] ?? absent<Replica>('argo cd')
  const { url } = service
  if (has('provider')) await idp.start(...running.map((replica) => replica.url))
  const observerUrl = has('lines')
    ? throughLine(databaseUrl, started.use(await startFaultProxy(databaseLine)))
    : databaseUrl
  const database = new Pool({ connectionString: observerUrl, max: 1 })
  database.on('error', () => undefined) // some tests restart the server
  started.defer(() => database.end())
  const browser = has('browser') ? started.use(await launchBrowser()) : absent<Browser>('browser')

  /** A browser in which a user has signed in who has these groups. */
  async function signedIn(user: string, groups: readonly string[] = [privilegedGroup]): Promise<HttpBrowser> {
    idp.users.set(user, { preferred_username: user, groups })
    const signedInBrowser = createHttpBrowser()
    await signedInBrowser.signIn(url, user)
    return signedInBrowser
  }

  const anUpdate = (app: string, tag: string, fields: Partial<TaskSubmission> = {}) =>
    aTask({ app, images: [{ image: `registry.example/${app}`, tag }], ...fields })

  const ada = has('browser') && has('provider') ? await signedIn('ada') : undefined
  const stack = started.move()
  return {
    service,
    running,
    /** For one more replica, without lines of its own. */
    settings,
    databaseUrl,
    /** Reads and changes it as its owner and as none of the replicas. */
    database,
    /** Where the replicas' lines to the database lead; may be changed while they run. */
    databaseLine,
    ...argoCd,
    idp,
    browser,
    /** A user who may act; undefined without pages or a provider. */
    ada,
    signedIn,
    /** Another replica on the same database. */
    startReplica: (): Promise<Service> => startService({ settings, databaseUrl }),
    async rows<Row extends object>(query: string, values: readonly unknown[] = []): Promise<Row[]> {
      return (await database.query<Row>(query, [...values])).rows
    },
    /** Submits a task that may commit and gives its id. */
    deploy: (app: string, tag: string, fields?: Partial<TaskSubmission>) =>
      service.acceptTask(anUpdate(app, tag, fields), withToken),
    /** The same without a credential. */
    announce: (app: string, tag: string, fields?: Partial<TaskSubmission>) =>
      service.acceptTask(anUpdate(app, tag, fields)),
    open: (pathname: string, { as, url: address = url, ...opening }: Opening = {}) =>
      openPage(browser, address, pathname, { ...opening, cookies: as?.cookies(url) }),
    /** New Pods of the application behave so, except for those of these tags; none: all run again. */
    hold: (app: string, newPods: 'never-ready' | 'crashes', ...well: readonly string[]) =>
      argoCd.simulator.control.overridePods(app, {
        newPods,
        except: well.map((tag) => `registry.example/${app}:${tag}`),
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const ofPages: Pick<WorldOptions, 'settings' | 'times'> = {
  settings: {
    IDP_PRIVILEGED_GROUPS: privilegedGroup,
    POD_LOG_LINES: '20',
    BAD_POD_GRACE: '1',
    GIT_WEB_URLS: '127.0.0.1=https://git.example/{path}/commit/{sha}',
  },
  times: { progressDeadline: 7_200_000 }, // what is held is looked at to the end, on a slow machine too
}

type ArgoCd = Awaited<ReturnType<typeof startArgoCd>>

type ArgoCdOptions = Pick<WorldOptions, 'applications' | 'times' | 'seed'> & { readonly hasLine: boolean }

/** A delivery controller with the managed applications of one repository. */
async function startArgoCd({ applications = ['shop'], times, seed = 1, hasLine }: ArgoCdOptions) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-world-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const simulator = started.use(await startSimulator({ folder, times: { ...fastTimes, ...times }, seed }))
  started.defer(() => requireDocumentedCalls(simulator))
  const { git } = simulator
  await git.createRepository('gitops', { 'README.md': 'of the applications\n' })
  const gitCalls: Span[] = []
  const gitLine = hasLine
    ? started.use(await startFaultProxy({ port: git.host.port }, observeCalls(gitCalls)))
    : absent<FaultProxy>('lines')
  const repoURL = hasLine ? `ssh://git@127.0.0.1:${gitLine.port}/gitops.git` : git.url('gitops')
  const knownHosts = hasLine ? { SSH_KNOWN_HOSTS: await knownHostsFor(simulator, gitLine.port) } : {}
  const createOne = (name: string, annotations?: Record<string, string>) =>
    createManaged(simulator, name, annotations, repoURL)
  const addApplications = async (...names: readonly string[]) => {
    const charts = names.map((name) => chartFiles(`apps/${name}`, { tag: 'v0' }))
    await git.commit('gitops', Object.assign({}, ...charts))
    for (const name of names) await createOne(name)
  }
  if (applications.length > 0) await addApplications(...applications)
  const stack = started.move()
  return {
    simulator,
    gitLine,
    /** What all replicas asked the Git host. */
    gitCalls: gitCalls as readonly Span[],
    /** The bare repository behind the Git host. */
    repositoryFolder: path.join(folder, 'repositories', 'gitops.git'),
    argoCdSettings: { ...settingsFor(simulator), ...knownHosts },
    /** More managed applications, as those that the world begins with. */
    addApplications,
    /** One whose chart is in the repository already. */
    createManaged: createOne,
    /** Commits of the service on the branch, newest first. */
    commits: async () => (await git.log('gitops')).filter(({ message }) => message.includes('Watcher-Task: ')),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** The documented policy is enough: the service tries nothing that it does not allow (T50). */
function requireDocumentedCalls({ deniedCalls }: Pick<Simulator, 'deniedCalls'>): void {
  if (deniedCalls().length > 0) throw new Error(`the documented policy does not allow: ${deniedCalls().join('; ')}`)
}

export const settingsFor = (simulator: Simulator) => ({
  ARGO_URL: simulator.argoUrl,
  ARGO_TOKEN: simulator.argoToken,
  WATCHER_DEPLOY_TOKEN: deployToken,
  SSH_KEY_PATH: simulator.git.keyPath,
  SSH_KNOWN_HOSTS: simulator.git.knownHostsPath,
})

export function createManaged(
  simulator: Simulator,
  name: string,
  annotations: Record<string, string> = {},
  repoURL = simulator.git.url('gitops'),
) {
  return simulator.control.createApplication({
    name,
    source: { repoURL, path: `apps/${name}`, targetRevision: 'main' },
    annotations: {
      'watcher/managed': 'true',
      'watcher/managed-images': `main=registry.example/${name}`,
      'watcher/main.helm.image-tag': 'image.tag',
      ...annotations,
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

const portOf = (url: string) => Number(new URL(url).port)

const throughLine = (url: string, line: { readonly port: number }) => {
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

const withoutArgoCd: ArgoCd = {
  simulator: absent('argo cd'),
  gitLine: absent('lines'),
  gitCalls: [],
  repositoryFolder: '',
  argoCdSettings: {} as ArgoCd['argoCdSettings'],
  addApplications: absent('argo cd'),
  createManaged: absent('argo cd'),
  commits: absent('argo cd'),
  [Symbol.asyncDispose]: async () => {},
}

const asReplica = (service: Service, lines: Replica['lines'], traffic: Replica['traffic']): Replica => ({
  ...service,
  lines,
  traffic,
  async watchedCount() {
    const { body } = await service.request('/metrics')
    return Number(/^in_progress_tasks (\d+)$/m.exec(String(body))?.[1])
  },
})

/** Stands for what the world was started without, and says so where a test uses it. */
function absent<Value extends object>(part: Part): Value {
  const complain = () => {
    throw new Error(`this world was started without the part ${part}`)
  }
  return new Proxy(complain as unknown as Value, { get: complain })
}
