import type { Application, ApplicationKey } from './application.ts'
import type { Clock } from './clock.ts'
import type { CommitFiles, GitView } from './git-view.ts'
import type { ManagedApplication, RefreshLevel } from './managed-application.ts'
import type { ObjectStore } from './object-store.ts'
import type { Random } from './random.ts'
import type { LsRemote, Rendering } from './resolve-target.ts'
import type { SimulatorTimes } from './simulator-times.ts'
import type { SyncWindow } from './sync-window.ts'

/** Releases whose controllers differ in what the model shows. */
export type ControllerVersion = '2.14' | '3.5' | '3.6'

/** Things that can go wrong inside the controller, by application key; absent means all is well. */
export type ControllerFaults = {
  /** Refreshes stay under way until this is cleared. */
  hangRefresh: Set<string>
  /** Added to every comparison that resolves again. */
  refreshDelayMs: Map<string, number>
  /** Operations fail with this message. */
  failSync: Map<string, string>
  /** The next operation ends in phase Error with this message, and no result. */
  endWithoutResult: Map<string, string>
  /** What happens in the next comparison after the first source was looked up and before the others are. */
  betweenLookUps: Map<string, () => Promise<unknown>>
  /** How many comparisons of an application still see the commit before: the Git host answered from a replica that lags. */
  olderRevision: Map<string, number>
  /** Hydrations stay under way until this is cleared. */
  hangHydration: Set<string>
  /** Hydrations fail with this message. */
  failHydration: Map<string, string>
  /** Answers of the Git host, by repository address. */
  repositoryErrors: Map<string, string>
}

/** What the two workers of an application share. */
export type ControllerContext = {
  clock: Clock
  random: Random
  store: ObjectStore
  git: GitView
  /** Commits as the hydrator does, where there is one. */
  commit: CommitFiles | undefined
  lsRemote: LsRemote
  times: () => SimulatorTimes
  version: ControllerVersion
  namespace: string
  faults: ControllerFaults
  windowsOf: (project: string) => readonly SyncWindow[]
  /** How often a comparison after an operation still sees the old live objects, from 0 to 1. */
  staleLiveCache: number
  /** Difference between the controller's clock and everybody else's. */
  clockSkewMs: () => number
  requestRefresh: (managed: ManagedApplication, level: RefreshLevel) => void
  requestHydration: (managed: ManagedApplication, level: RefreshLevel) => void
  renderingOf: (application: Application) => Rendering
  read: (key: ApplicationKey) => Application | undefined
}

/** The controller's own idea of the time. */
export function controllerNow(context: ControllerContext): number {
  return context.clock.now() + context.clockSkewMs()
}
