import type { ApplicationKey } from './application.ts'
import type { Cluster } from './cluster.ts'
import type { Manifest } from './manifest.ts'

/** 0: images only; 1: same revision; 2: resolve again, cached answers allowed; 3: resolve again without the cache. */
export type RefreshLevel = 0 | 1 | 2 | 3

/** A commit (one for each source), rendered. `failure` is the text of the condition `ComparisonError`. */
export type Target = {
  revisions: readonly string[]
  manifests: readonly Manifest[] | undefined
  sourceTypes: readonly string[]
  failure: string | undefined
}

type ControllerEvent = { atMs: number; reason: string; message: string }

export type TruthMoment = {
  atMs: number
  running: readonly string[]
  appliedRevisions: readonly string[]
  isRolledOut: boolean
}

/** What the controller keeps in memory of one application (one uid; a re-created one starts again). */
export type ManagedApplication = {
  key: ApplicationKey
  uid: string
  cluster: Cluster
  /** The live objects as comparisons see them; may lag behind the cluster. */
  observed: Map<string, Manifest>
  target: Target | undefined
  /** Manifests by revisions, for operations and for comparisons that need no rendering. */
  rendered: Map<string, Target>
  wantedLevel: RefreshLevel | undefined
  isRefreshing: boolean
  isHydrating: boolean
  isOperating: boolean
  isTerminating: boolean
  isGone: boolean
  selfHeal: { attempts: number; lastAtMs: number }
  lastSeen: string
  lastGoodComparisonMs: number
  appliedRevisions: readonly string[]
  events: ControllerEvent[]
  truth: TruthMoment[]
  waiters: Set<() => void>
}

/** Resolves at the next change in the application's cluster, or when its operation is to end. */
export function nextChange(managed: ManagedApplication): Promise<void> {
  return new Promise((resolve) => managed.waiters.add(resolve))
}

export function wakeWaiters(managed: ManagedApplication): void {
  const waiters = [...managed.waiters]
  managed.waiters.clear()
  for (const wake of waiters) wake()
}

export async function until(managed: ManagedApplication, condition: () => boolean): Promise<void> {
  while (!condition() && !managed.isGone && !managed.isTerminating) await nextChange(managed)
}
