import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes, type SimulatorTimes } from '../../simulator/model/simulator-times.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { aTask, type ServiceOptions, startService } from './service.ts'

/** What pipelines of these tests send. */
export const deployToken = 'deploy-token-of-the-tests'
export const withToken = { 'Watcher-Deploy-Token': deployToken }

export type WorldOptions = ServiceOptions & {
  readonly times?: Partial<SimulatorTimes>
  /** Managed applications of one repository, each with a Deployment of `registry.example/<name>`. */
  readonly applications?: readonly string[]
  /** The service's token may read the logs of Pods as well. `'refused'`: it may not, and the service tries. */
  readonly mayReadLogs?: boolean | 'refused'
}

export type World = Awaited<ReturnType<typeof startWorld>>

/** The service with a simulated delivery controller and a real Git repository behind real SSH. */
export async function startWorld({
  times,
  applications = ['shop'],
  mayReadLogs = false,
  settings,
  ...options
}: WorldOptions = {}) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-world-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const simulator = started.use(await startSimulator({ folder, times: { ...fastTimes, ...times } }))
  if (mayReadLogs !== 'refused') started.defer(() => requireDocumentedCalls(simulator))
  const charts = applications.map((name) => chartFiles(`apps/${name}`, { tag: 'v1' }))
  await simulator.git.createRepository('gitops', Object.assign({}, ...charts))
  for (const name of applications) await createManaged(simulator, name)
  const token = mayReadLogs === true ? { ARGO_TOKEN: simulator.deployerToken } : {}
  const service = started.use(
    await startService({ ...options, settings: { ...settingsFor(simulator), ...token, ...settings } }),
  )
  const stack = started.move()
  return {
    simulator,
    service,
    /** Submits a task that may commit and gives its id. */
    deploy: (app: string, tag: string) => service.acceptTask(anUpdate(app, tag), withToken),
    /** The same without a credential. */
    announce: (app: string, tag: string) => service.acceptTask(anUpdate(app, tag)),
    /** Commits of the service on the branch, newest first. */
    async commits() {
      return (await simulator.git.log('gitops')).filter(({ message }) => message.includes('Watcher-Task: '))
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** The documented policy is enough: the service tries nothing that it does not allow (T50). */
export function requireDocumentedCalls({ deniedCalls }: Pick<Simulator, 'deniedCalls'>): void {
  if (deniedCalls().length > 0) throw new Error(`the documented policy does not allow: ${deniedCalls().join('; ')}`)
}

export const settingsFor = (simulator: Simulator) => ({
  ARGO_URL: simulator.argoUrl,
  ARGO_TOKEN: simulator.argoToken,
  WATCHER_DEPLOY_TOKEN: deployToken,
  SSH_KEY_PATH: simulator.git.keyPath,
  SSH_KNOWN_HOSTS: simulator.git.knownHostsPath,
})

export function createManaged(simulator: Simulator, name: string, annotations: Record<string, string> = {}) {
  return simulator.control.createApplication({
    name,
    source: { repository: 'gitops', path: `apps/${name}`, targetRevision: 'main' },
    annotations: {
      'watcher/managed': 'true',
      'watcher/managed-images': `main=registry.example/${name}`,
      'watcher/main.helm.image-tag': 'image.tag',
      ...annotations,
    },
  })
}

const anUpdate = (app: string, tag: string) => aTask({ app, images: [{ image: `registry.example/${app}`, tag }] })
