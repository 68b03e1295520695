import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type BareRepository, type CommitOptions, openBareRepository } from './git-host/bare-repository.ts'
import { createDiskGitView } from './git-host/disk-git-view.ts'
import { loadHostKeys } from './git-host/host-keys.ts'
import { startSshGitHost } from './git-host/ssh-git-host.ts'
import { type Account, adminPassword, createAccounts, type Policy } from './http/accounts.ts'
import { startArgoCdServer } from './http/argo-cd-server.ts'
import { type Application, type ApplicationKey, keyOf, type Source } from './model/application.ts'
import { systemClock } from './model/clock.ts'
import type { RolloutDecision } from './model/cluster.ts'
import type { ControllerVersion } from './model/controller-context.ts'
import { createDeliveryController } from './model/delivery-controller.ts'
import type { FileChanges } from './model/memory-git.ts'
import type { NewApplicationSpec } from './model/new-application.ts'
import { seededRandom } from './model/random.ts'
import type { AbortForm } from './model/rollout-state.ts'
import { demoTimes, type SimulatorTimes } from './model/simulator-times.ts'

export type SimulatorOptions = {
  /** Where repositories and keys live; what is there already is kept. */
  folder: string
  times?: SimulatorTimes
  seed?: number
  version?: ControllerVersion
  replicas?: number
  staleLiveCache?: number
  burstGapMs?: number
  ports?: { argo?: number; ssh?: number }
}

export type Simulator = Awaited<ReturnType<typeof startSimulator>>

/** An application as tests name it: alone for the control-plane namespace, or with a namespace. */
export type ApplicationName = string | ApplicationKey

export type NewSimulatedApplication = Omit<NewApplicationSpec, 'sources'> &
  (
    | { source: SimulatedSource; sources?: undefined }
    | { sources: readonly SimulatedSource[]; source?: undefined }
    | { sourceHydrator: NonNullable<NewApplicationSpec['sourceHydrator']>; source?: undefined; sources?: undefined }
  )

/** A source whose repository is one of the simulator's, by name, or any address. */
export type SimulatedSource = Omit<Source, 'repoURL'> & ({ repository: string } | { repoURL: string })

/** What README.md asks for. */
export const watcherPolicies: readonly Policy[] = [{ action: 'get', object: '*/*' }]
const deployerPolicies: readonly Policy[] = [
  { action: '*', object: '*/*' },
  { resource: 'logs', action: 'get', object: '*/*' },
]

/** A delivery controller and a Git host on free loopback ports. */
export async function startSimulator(options: SimulatorOptions) {
  await using opened = new AsyncDisposableStack()
  const repositoriesFolder = join(options.folder, 'repositories')
  await mkdir(repositoriesFolder, { recursive: true })
  const keys = loadHostKeys(join(options.folder, 'ssh'))
  const host = opened.adopt(
    await startSshGitHost({
      folder: repositoriesFolder,
      keys,
      ...(options.ports?.ssh ? { port: options.ports.ssh } : {}),
    }),
    (started) => started.close(),
  )
  const folderOf = (repoUrl: string) => {
    const folder = join(repositoriesFolder, `${repositoryName(repoUrl)}.git`)
    return existsSync(join(folder, 'HEAD')) ? folder : undefined
  }
  const git = opened.adopt(createDiskGitView(folderOf), (view) => view.close())
  const controller = opened.adopt(
    createDeliveryController({
      clock: systemClock,
      random: seededRandom(options.seed ?? Date.now()),
      git,
      commit: async (repoUrl, branch, files, message) =>
        (await repositoryAt(repositoryName(repoUrl))).commit(files, { branch, message, author: 'Hydrator' }),
      times: options.times ?? demoTimes,
      ...(options.version ? { version: options.version } : {}),
      ...(options.replicas ? { replicas: options.replicas } : {}),
      ...(options.staleLiveCache === undefined ? {} : { staleLiveCache: options.staleLiveCache }),
    }),
    (started) => started.close(),
  )
  const accounts = createAccounts(systemClock.now)
  const watcher = accounts.add('watcher', watcherPolicies)
  const deployer = accounts.add('deployer', deployerPolicies)
  const argo = opened.adopt(
    await startArgoCdServer({
      controller,
      accounts,
      ...(options.ports?.argo ? { port: options.ports.argo } : {}),
      ...(options.burstGapMs === undefined ? {} : { burstGapMs: options.burstGapMs }),
    }),
    (started) => started.close(),
  )
  const repositories = new Map<string, BareRepository>()
  const sshUrl = `ssh://git@127.0.0.1:${host.port}`
  const urlOf = (repository: string) => `${sshUrl}/${repository}.git`

  function keyOfName(name: ApplicationName): ApplicationKey {
    return typeof name === 'string' ? { name, namespace: controller.namespace } : name
  }

  function decideRollout(name: ApplicationName, rollout: string, decision: RolloutDecision): void {
    controller.managedAt(keyOfName(name))?.cluster.decideRollout(rollout, decision)
  }

  async function repositoryAt(name: string): Promise<BareRepository> {
    const known = repositories.get(name) ?? (await openBareRepository(join(repositoriesFolder, `${name}.git`)))
    repositories.set(name, known)
    return known
  }

  function toSource(source: SimulatedSource): Source {
    if ('repoURL' in source) return source
    const { repository, ...rest } = source
    return { repoURL: urlOf(repository), ...rest }
  }

  async function createApplication(wanted: NewSimulatedApplication): Promise<Application> {
    const { source, sources, ...rest } = wanted
    const application = await controller.createApplication({
      ...rest,
      sources: sources?.map(toSource) ?? (source ? [toSource(source)] : []),
    })
    await untilVisible(application)
    return application
  }

  /** List and stream answer from caches that follow the store with a lag. */
  async function untilVisible({ metadata }: Application): Promise<void> {
    const isVisible = () =>
      controller.replicas.every((replica) => Number(replica.resourceVersion()) >= Number(metadata.resourceVersion))
    while (!isVisible()) await new Promise((resolve) => systemClock.setTimer(1, () => resolve(undefined)))
  }

  const stack = opened.move()
  return {
    argoUrl: argo.url,
    argoToken: watcher.token,
    /** What the account of that token tried and its policy does not allow. */
    deniedCalls: (): readonly string[] => watcher.denied,
    /** May sync, terminate and read logs. */
    deployerToken: deployer.token,
    /** Of the account `admin`, for `POST /api/v1/session`. */
    adminPassword,
    argo,
    controller,
    git: {
      host,
      sshUrl,
      url: urlOf,
      keyPath: keys.clientKeyPath,
      knownHostsPath: keys.knownHostsPath,
      /** Creates the repository unless it exists; the files are committed if it has no commit yet. */
      async createRepository(name: string, files: FileChanges = {}, commit: CommitOptions = {}): Promise<string> {
        const repository = await repositoryAt(name)
        const isEmpty = (await repository.head(commit.branch)) === undefined
        if (isEmpty && Object.keys(files).length > 0) await repository.commit(files, { message: 'Start', ...commit })
        return urlOf(name)
      },
      /** Commits as another writer does, without going through SSH. */
      commit: async (name: string, files: FileChanges, commit: CommitOptions = {}) =>
        (await repositoryAt(name)).commit(files, commit),
      log: async (name: string, branch?: string) => (await repositoryAt(name)).log(branch),
      head: async (name: string, branch?: string) => (await repositoryAt(name)).head(branch),
      /** Moves a branch, also backwards, as a replicated Git host may do. */
      setHead: async (name: string, branch: string, sha: string) => (await repositoryAt(name)).setHead(branch, sha),
      readFile: async (name: string, path: string, revision?: string) =>
        (await repositoryAt(name)).readFile(path, revision),
    },
    control: {
      createApplication,
      editApplication: (name: ApplicationName, change: (current: Application) => Application) =>
        controller.editApplication(keyOfName(name), change),
      deleteApplication: (name: ApplicationName) => controller.deleteApplication(keyOfName(name)),
      overridePods: (name: ApplicationName, override: Parameters<typeof controller.overridePods>[1]) =>
        controller.overridePods(keyOfName(name), override),
      application: (name: ApplicationName) => controller.store.get(keyOfName(name)),
      truth: (name: ApplicationName) => controller.truthOf(keyOfName(name)),
      /** Whether an Ingress, a Service or a PersistentVolumeClaim waits for its address or volume. */
      setPending: (name: ApplicationName, kind: string, resource: string, isPending: boolean) =>
        controller.managedAt(keyOfName(name))?.cluster.setPending(kind, resource, isPending),
      /** Operations of the application are refused with these words; undefined: no longer. */
      failSync(name: ApplicationName, message: string | undefined): void {
        const { failSync } = controller.faults
        if (message === undefined) failSync.delete(keyOf(keyOfName(name)))
        else failSync.set(keyOf(keyOfName(name)), message)
      },
      abortRollout: (name: ApplicationName, rollout: string, form: AbortForm = 'person') =>
        decideRollout(name, rollout, { aborted: form }),
      retryRollout: (name: ApplicationName, rollout: string) => decideRollout(name, rollout, 'retried'),
      /** From a pause to the next step; without a pause, or with `isFull`, past all of them. */
      promoteRollout: (name: ApplicationName, rollout: string, { isFull = false } = {}) =>
        decideRollout(name, rollout, isFull ? 'fully-promoted' : 'promoted'),
      approvePruning: (name: ApplicationName) => controller.approvePruning(keyOfName(name)),
      releasePods: (name: ApplicationName) => controller.releasePods(keyOfName(name)),
      runCronJob(name: ApplicationName, key: string): void {
        controller.managedAt(keyOfName(name))?.cluster.runCronJob(key)
      },
      addAccount: (name: string, policies: readonly Policy[], limits?: { expiresInMs?: number }): Account =>
        accounts.add(name, policies, limits),
      revoke(token: string): void {
        accounts.authenticate(token).isRevoked = true
      },
      faults: { http: argo.faults, controller: controller.faults, git: host, replicas: controller.replicas },
      callLog: argo.callLog,
      clearCallLog: argo.clearCallLog,
      eventLog: controller.eventLog,
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync()
    },
  }
}

/** The repository's name in any address of it: its last part, without `.git`. */
function repositoryName(repoUrl: string): string {
  return (
    repoUrl
      .replace(/\.git\/?$/, '')
      .split(/[/:]/)
      .at(-1) ?? ''
  )
}
