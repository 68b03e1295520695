import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Application } from '../../simulator/model/application.ts'
import { chartFiles, overrideFile } from '../../simulator/model/example-repository.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { inTurns } from './in-turns.ts'

const loopDelayResolutionMs = 10

/** What the driver may ask of the simulator's process. */
export type Installation = ReturnType<typeof createInstallation>
export type InstallationRequest = {
  readonly id: number
  readonly name: keyof Installation
  readonly args: readonly unknown[]
}
export type InstallationAnswer = { readonly id: number; readonly result?: unknown; readonly error?: string }

const isSettled = ({ status, operation }: Application, image: string) =>
  operation === undefined &&
  status.operationState?.phase === 'Succeeded' &&
  status.sync.status === 'Synced' &&
  (status.reconciledAt ?? '') >= (status.operationState.finishedAt ?? '') &&
  (status.summary.images ?? []).includes(image)

/** Whether every field says that the image is rolled out: what a watcher may conclude from, and not earlier. */
const isComplete = (application: Application, image: string) =>
  isSettled(application, image) && application.status.health.status === 'Healthy'

const isWaiting = (application: Application, image: string) =>
  isSettled(application, image) && application.status.health.status === 'Progressing'

/** A simulator that notes, in its own process, the moment of the write that makes an application complete. */
function createInstallation(simulator: Simulator, folder: string) {
  const { control, controller, git } = simulator
  const expected = new Map<string, string>()
  const beganAtMs = new Map<string, number>()
  const completedAtMs = new Map<string, number>()
  const waitingApps = new Set<string>()
  const waiters = new Set<() => void>()
  const loopDelay = monitorEventLoopDelay({ resolution: loopDelayResolutionMs })
  loopDelay.enable()
  controller.store.subscribe(({ application }) => {
    const { name } = application.metadata
    const image = expected.get(name)
    if (image === undefined) return
    if (application.operation !== undefined && !beganAtMs.has(name)) beganAtMs.set(name, Date.now())
    if (!completedAtMs.has(name) && isComplete(application, image)) completedAtMs.set(name, Date.now())
    if (isWaiting(application, image)) waitingApps.add(name)
    for (const wake of waiters) wake()
  })
  const until = (isReached: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isReached()) return
        waiters.delete(look)
        resolve()
      }
      waiters.add(look)
      look()
    })

  const expectRollout = (names: readonly string[], tag: string) => {
    for (const name of names) {
      expected.set(name, `registry.example/${name}:${tag}`)
      beganAtMs.delete(name)
      completedAtMs.delete(name)
      waitingApps.delete(name)
    }
  }

  return {
    connection: async () => ({
      argoUrl: simulator.argoUrl,
      argoToken: simulator.argoToken,
      keyPath: git.keyPath,
      knownHostsPath: git.knownHostsPath,
      /** Where its bare repositories lie. */
      repositories: path.join(folder, 'repositories'),
    }),
    createRepository: (name: string, apps: readonly string[]) =>
      git.createRepository(name, Object.assign({}, ...apps.map(filesOf))),
    /** As `createApplications`, in a repository that is there, by any spelling of its address. */
    createApplicationsAt: (names: readonly string[], source: { repoURL: string; targetRevision: string }) =>
      inTurns(names, 50, async (name) => {
        await control.createApplication({
          name,
          source: { ...source, path: `apps/${name}` },
          annotations: annotationsOf(name),
        })
      }),
    /** Applications with one Pod of `registry.example/<name>:v0`, hundreds to a repository. */
    async createApplications(
      names: readonly string[],
      prefix: string,
      { perRepository = 500, isManaged = true } = {},
    ): Promise<void> {
      for (let from = 0; from < names.length; from += perRepository) {
        const some = names.slice(from, from + perRepository)
        const repository = `${prefix}-${from / perRepository}`
        await git.createRepository(repository, Object.assign({}, ...some.map(filesOf)))
        await inTurns(some, 50, (name) =>
          control.createApplication({
            name,
            source: { repository, path: `apps/${name}`, targetRevision: 'main' },
            annotations: isManaged ? annotationsOf(name) : {},
          }),
        )
      }
    },
    /** From now on the next rollout of these is expected to bring `tag`, and its Pods wait to be released. */
    hold(names: readonly string[], tag: string): void {
      expectRollout(names, tag)
      for (const name of names) control.overridePods(name, { newPods: 'held' })
    },
    /** From now on the next rollout of these is expected to bring `tag`. */
    expectRollout,
    /** Commits a tag as somebody else does. */
    commitTags: (names: readonly string[], repository: string, tag: string) =>
      git.commit(
        repository,
        Object.fromEntries(names.map((name) => [`apps/${name}/.argocd-source-${name}.yaml`, overrideFile(tag)])),
      ),
    /** Until all of these are rolled out except for their held Pods. */
    untilWaiting: (names: readonly string[]) => until(() => names.every((name) => waitingApps.has(name))),
    release(names: readonly string[]): void {
      for (const name of names) control.releasePods(name)
    },
    untilComplete: (names: readonly string[]) => until(() => names.every((name) => completedAtMs.has(name))),
    /** When Argo CD began the expected rollout of each. */
    beginnings: (names: readonly string[]): readonly number[] => names.map((name) => beganAtMs.get(name) ?? NaN),
    completions: (names: readonly string[]): readonly number[] => names.map((name) => completedAtMs.get(name) ?? NaN),
    /** Argo CD notices new commits of these by itself. */
    notice(names: readonly string[]): void {
      for (const name of names) controller.refreshNow({ name, namespace: controller.namespace }, 3)
    },
    resetLoopDelay: () => loopDelay.reset(),
    /** p99 of how late this process's event loop was since the reset. */
    loopDelayMs: () => Math.max(0, loopDelay.percentile(99) / 1e6 - loopDelayResolutionMs),
    /** The next comparison of each sees the commit before the newest one. */
    answerOnceWithOlder(names: readonly string[]): void {
      for (const name of names) controller.faults.olderRevision.set(`${controller.namespace}/${name}`, 1)
    },
    /** One application with many images, each in a workload and under an alias of its own. */
    async createWithImages(name: string, count: number): Promise<void> {
      await git.createRepository(name, filesWithImages(name, count))
      await control.createApplication({
        name,
        source: { repository: name, path: `apps/${name}`, targetRevision: 'main' },
        annotations: annotationsWithImages(name, count),
      })
    },
    clearCallLog: () => control.clearCallLog(),
    callLog: () => control.callLog().map(({ kind, application, atMs }) => ({ kind, application, atMs })),
  }
}

const filesOf = (name: string) =>
  chartFiles(`apps/${name}`, {
    tag: 'v0',
    workloads: [{ kind: 'Deployment', image: `registry.example/${name}:\${image.tag}`, replicas: 1 }],
  })

const annotationsOf = (name: string) => ({
  'watcher/managed': 'true',
  'watcher/managed-images': `main=registry.example/${name}`,
  'watcher/main.helm.image-tag': 'image.tag',
})

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

function filesWithImages(name: string, count: number) {
  const workloads = upTo(count).map((at) => ({
    kind: 'Deployment',
    name: `${name}-${at}`,
    image: `registry.example/${name}-${at}:\${tags.i${at}}`,
    replicas: 1,
  }))
  const values = `tags:\n${upTo(count)
    .map((at) => `  i${at}: v0\n`)
    .join('')}`
  return { ...chartFiles(`apps/${name}`, { workloads }), [`apps/${name}/values.yaml`]: values }
}

const annotationsWithImages = (name: string, count: number) => ({
  'watcher/managed': 'true',
  'watcher/managed-images': upTo(count)
    .map((at) => `i${at}=registry.example/${name}-${at}`)
    .join(','),
  ...Object.fromEntries(upTo(count).map((at) => [`watcher/i${at}.helm.image-tag`, `tags.i${at}`])),
})

async function main(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-bench-'))
  const simulator = await startSimulator({ folder, times: { ...fastTimes, progressDeadline: 3_600_000 } })
  const installation = createInstallation(simulator, folder)
  const answer = async ({ id, name, args }: InstallationRequest): Promise<InstallationAnswer> => {
    try {
      // The driver calls with this very type, so the arguments fit.
      const command = installation[name] as (...args: readonly unknown[]) => unknown
      return { id, result: await command(...args) }
    } catch (error) {
      return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }
  process.on('message', (request: InstallationRequest) => {
    void answer(request).then((reply) => process.send?.(reply))
  })
  process.on('disconnect', async () => {
    process.on('unhandledRejection', () => {}) // comparisons under way lose their Git
    await simulator[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    process.exit(0)
  })
}

if (process.send !== undefined) await main()
