import type { Ancestry } from '../../../write-back/git/history/commit-history.ts'
import type { KnownApplication } from '../../observed/newest-snapshots.ts'
import type {
  LivePod,
  ManagedResources,
  ResourceAddress,
  ResourceEvent,
  ResourceTree,
  SyncWindows,
} from '../../observed/observed-resources.ts'
import type { RolloutAnnotations, WriteBackState } from './watched-task.ts'

/** The answer to a read, or that there was none. `version` is the newest snapshot's when it was asked. */
export type Reading<Value> = {
  readonly askedAtMs: number
  readonly version: number
  readonly value: Value | undefined
}

/** A refresh whose end is still to be seen. */
type PendingRefresh = {
  /** `refreshIdleAtMs` when it was asked. */
  readonly beganAfterMs: number | undefined
  /** Its annotation has been seen. */
  readonly isSeen: boolean
  /** When the call came back without an answer: by then the annotation was set. */
  readonly acceptedAtMs: number | undefined
}

/** What became of the refreshes that were asked for an application. One answer serves all its tasks. */
export type RefreshObservation = {
  readonly lastAskedAtMs: number | undefined
  /**
   * When the application was last asked for directly and no refresh was under way: one that ends later began later. That a
   * refresh was asked late proves less, because Argo CD answers it with the one that is running already.
   */
  readonly refreshIdleAtMs: number | undefined
  /** The newest refresh that is known to have ended, after when its comparison began, and the version that it left behind. */
  readonly answered: { readonly beganAfterMs: number | undefined; readonly version: number } | undefined
  readonly pending: PendingRefresh | undefined
}

/** A direct read of the application. `missing`: 403 or 404, which for an unknown project mean the same. */
export type DirectRead = {
  readonly askedAtMs: number
  readonly result: 'read' | 'missing' | 'not_found' | 'failed'
}

/** Everything that is known of a task's application at one moment. */
export type RolloutObservation = {
  readonly known: KnownApplication
  readonly annotations: RolloutAnnotations
  readonly writeBack: WriteBackState
  readonly refresh: RefreshObservation
  readonly directRead: DirectRead | undefined
  readonly lastListAtMs: number | undefined
  readonly ancestries: ReadonlyMap<string, { readonly ancestry: Ancestry; readonly atMs: number }>
  readonly overrides: ReadonlyMap<string, ReadonlyMap<string, string> | undefined>
  readonly tree: Reading<ResourceTree> | undefined
  readonly managed: Reading<ManagedResources> | undefined
  readonly windows: Reading<SyncWindows> | undefined
  /** By the uid of the resource. */
  readonly events: Readings<readonly ResourceEvent[]>
  readonly livePods: Readings<LivePod>
  /** Why nothing answers, and since when. */
  readonly unreachable: { readonly sinceMs: number; readonly why: string } | undefined
}

export const nothingRefreshed: RefreshObservation = Object.freeze({
  lastAskedAtMs: undefined,
  refreshIdleAtMs: undefined,
  answered: undefined,
  pending: undefined,
})

/** Ancestry of two commits never changes, so one answer is good for ever. */
export function ancestryKey(commit: string, revision: string): string {
  return `${commit} ${revision}`
}

export type Readings<Value> = ReadonlyMap<string, Reading<Value>>

/** Something to find out. What it finds comes back in the next observation; it never is a verdict. */
export type NextAction =
  | { readonly kind: 'read' }
  | { readonly kind: 'refresh'; readonly why: string }
  | { readonly kind: 'list' }
  | { readonly kind: 'tree'; readonly priority?: 'low' }
  | { readonly kind: 'managed_resources'; readonly priority?: 'low' }
  | { readonly kind: 'sync_windows' }
  | ({ readonly kind: 'events' | 'live_pod' } & ResourceAddress)
  | { readonly kind: 'ancestry'; readonly repository: string; readonly commit: string; readonly revision: string }
  | { readonly kind: 'override_at'; readonly revision: string }

/** What is needed at some time, and when. */
export type DueAction = { readonly atMs: number; readonly action: NextAction }

export function askRefresh(refresh: RefreshObservation, askedAtMs: number): RefreshObservation {
  const pending = { beganAfterMs: refresh.refreshIdleAtMs, isSeen: false, acceptedAtMs: undefined }
  return { ...refresh, lastAskedAtMs: askedAtMs, pending }
}

/** The call itself came back with the application as the refresh left it; the stream may have shown that before. */
export function answerRefresh(
  refresh: RefreshObservation,
  askedAtMs: number,
  { version }: { readonly version: number },
): RefreshObservation {
  const answered = { beganAfterMs: (refresh.pending ?? refresh.answered)?.beganAfterMs, version }
  return { ...refresh, answered, pending: undefined, refreshIdleAtMs: askedAtMs }
}

/** Follows the annotation of a refresh: seen and then gone means that the comparison it asked for is over. */
export function observeRefresh(
  refresh: RefreshObservation,
  { isRefreshPending, version }: { readonly isRefreshPending: boolean; readonly version: number },
): RefreshObservation {
  const { pending } = refresh
  if (pending === undefined) return refresh
  if (isRefreshPending) return { ...refresh, pending: { ...pending, isSeen: true } }
  if (!pending.isSeen) return refresh
  return { ...refresh, answered: { beganAfterMs: pending.beganAfterMs, version }, pending: undefined }
}

/** A direct read is never older than its question: asked after the annotation was set and without it, the refresh is over. */
export function observeRefreshDirectly(
  refresh: RefreshObservation,
  seen: { readonly isRefreshPending: boolean; readonly version: number },
  askedAtMs: number,
): RefreshObservation {
  const { pending } = refresh
  const isSet = pending?.acceptedAtMs !== undefined && askedAtMs >= pending.acceptedAtMs
  const refreshIdleAtMs = seen.isRefreshPending ? refresh.refreshIdleAtMs : askedAtMs
  const known = { ...refresh, refreshIdleAtMs }
  return observeRefresh(isSet ? { ...known, pending: { ...pending, isSeen: true } } : known, seen)
}
