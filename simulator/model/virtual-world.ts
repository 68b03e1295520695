import type { Application, ApplicationKey } from './application.ts'
import { createDeliveryController, type DeliveryControllerOptions } from './delivery-controller.ts'
import { chartFiles, type ExampleWorkload, overrideFile } from './example-repository.ts'
import { createMemoryGit } from './memory-git.ts'
import type { NewApplicationSpec } from './new-application.ts'
import { seededRandom } from './random.ts'
import { demoTimes, type SimulatorTimes } from './simulator-times.ts'
import { createVirtualClock } from './virtual-clock.ts'

export type VirtualWorldOptions = Partial<
  Pick<DeliveryControllerOptions, 'version' | 'replicas' | 'staleLiveCache'>
> & {
  seed?: number
  times?: Partial<SimulatorTimes>
  startMs?: number
}

export type VirtualWorld = ReturnType<typeof createVirtualWorld>

/** Clock, Git and controller in one process: the same seed gives the same world, write by write. */
export function createVirtualWorld({
  seed = 1,
  times = {},
  startMs = Date.UTC(2026, 0, 5, 8),
  ...rest
}: VirtualWorldOptions = {}) {
  const clock = createVirtualClock(startMs)
  const git = createMemoryGit()
  const controller = createDeliveryController({
    clock,
    git,
    commit: async (repoUrl, branch, files, message) => git.push(repoUrl, files, { branch, message }),
    random: seededRandom(seed),
    times: { ...demoTimes, ...times },
    ...rest,
  })
  const keyOfName = (name: string): ApplicationKey => ({ namespace: controller.namespace, name })

  async function run<T>(work: Promise<T>, limitMs = 600_000): Promise<T> {
    let isDone = false
    const ending = work.finally(() => {
      isDone = true
    })
    ending.catch(() => {}) // awaited below; this only keeps the clock's turn from counting as unhandled
    await clock.advanceUntil(() => isDone, limitMs)
    return ending
  }

  return {
    clock,
    git,
    controller,
    /** Lets the clock run until a promise of the model is settled. */
    run,
    /** An application with a chart of its own in the repository `gitops`, running version 1.0.0. */
    async createApplication(
      name: string,
      options: Partial<NewApplicationSpec> & { workloads?: readonly ExampleWorkload[] } = {},
    ): Promise<Application> {
      const { workloads, ...spec } = options
      git.push('gitops', chartFiles(name, workloads ? { workloads } : {}))
      const sources = [{ repoURL: 'gitops', path: name, targetRevision: 'main' }]
      return run(controller.createApplication({ name, sources, ...spec }))
    },
    /** Commits an override file with this tag; answers the commit. */
    deploy: (name: string, tag: string, fileName = `.argocd-source-${name}.yaml`) =>
      git.push('gitops', { [`${name}/${fileName}`]: overrideFile(tag) }),
    refresh: (name: string, kind: 'normal' | 'hard' = 'normal') => controller.annotateRefresh(keyOfName(name), kind),
    application: (name: string): Application => {
      const application = controller.store.get(keyOfName(name))
      if (!application) throw new Error(`There is no application ${name}`)
      return application
    },
    /** Every state an application has had, in order. */
    statesOf: (name: string): readonly Application[] =>
      controller
        .eventLog()
        .filter(({ event }) => event.application.metadata.name === name)
        .map(({ event }) => event.application),
    truth: (name: string) => run(controller.truthOf(keyOfName(name))),
    keyOf: keyOfName,
  }
}
