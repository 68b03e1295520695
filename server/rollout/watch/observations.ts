import type { ApplicationReference } from '../../../contract/application-name.ts'
import type { PodLog } from '../../../contract/task.ts'
import type { Clock } from '../../concurrency/clock.ts'
import type { Ancestry } from '../../write-back/git/history/commit-history.ts'
import {
  ancestryKey,
  answerRefresh,
  askRefresh,
  type DirectRead,
  nothingRefreshed,
  observeRefresh,
  observeRefreshDirectly,
  type Reading,
  type RefreshObservation,
} from '../judge/input/rollout-observation.ts'
import type { ApplicationList, ReadOutcome } from '../observed/delivery-controller.ts'
import {
  type ApplicationUpdate,
  type KnownApplication,
  mergeUpdate,
  nothingKnown,
} from '../observed/newest-snapshots.ts'
import type { ObservedApplication } from '../observed/observed-application.ts'
import type {
  LivePod,
  ManagedResources,
  ResourceEvent,
  ResourceTree,
  SyncWindows,
} from '../observed/observed-resources.ts'

/** What was observed of one application, wherever it came from. */
export type ObservedFacts = {
  readonly known: KnownApplication
  /** When `known` last got a newer snapshot. */
  readonly changedAtMs: number | undefined
  readonly refresh: RefreshObservation
  readonly directRead: DirectRead | undefined
  readonly lastListAtMs: number | undefined
  readonly tree: Reading<ResourceTree> | undefined
  readonly managed: Reading<ManagedResources> | undefined
  readonly windows: Reading<SyncWindows> | undefined
  /** By the uid of the resource. */
  readonly events: ReadonlyMap<string, Reading<readonly ResourceEvent[]>>
  readonly livePods: ReadonlyMap<string, Reading<LivePod>>
  /** Of the Pod with this uid. */
  readonly podLog: { readonly uid: string; readonly log: PodLog } | undefined
  readonly ancestries: ReadonlyMap<string, { readonly ancestry: Ancestry; readonly atMs: number }>
}

type Writable<Facts> = { -readonly [Name in keyof Facts]: Facts[Name] }

export type Observations = ReturnType<typeof createObservations>

/** The only writer of what is observed of one application. */
export function createObservations(
  reference: ApplicationReference,
  { nowMs }: Pick<Clock, 'nowMs'>,
  controlPlaneNamespace: string,
) {
  const events = new Map<string, Reading<readonly ResourceEvent[]>>()
  const livePods = new Map<string, Reading<LivePod>>()
  const ancestries = new Map<string, { readonly ancestry: Ancestry; readonly atMs: number }>()
  const facts: Writable<ObservedFacts> = {
    known: nothingKnown,
    changedAtMs: undefined,
    refresh: nothingRefreshed,
    directRead: undefined,
    lastListAtMs: undefined,
    tree: undefined,
    managed: undefined,
    windows: undefined,
    events,
    livePods,
    podLog: undefined,
    ancestries,
  }

  const isWatched = (seen: ObservedApplication) => isNamed(seen, reference, controlPlaneNamespace)
  const findIn = (list: ApplicationList) => list.applications.find(isWatched)

  const see = (update: ApplicationUpdate) => {
    if ('application' in update && !isWatched(update.application)) return
    const before = facts.known
    facts.known = mergeUpdate(before, update, nowMs())
    const { newest } = facts.known
    if (newest === undefined || newest === before.newest) return
    facts.changedAtMs = nowMs()
    facts.refresh = observeRefresh(facts.refresh, newest)
  }

  return {
    facts: facts as ObservedFacts,
    findIn,
    see,
    seeInList(list: ApplicationList, askedAtMs: number) {
      const found = findIn(list)
      if (found === undefined) see({ kind: 'absent', askedAtMs, version: list.version })
      else see({ kind: 'seen', application: found, isComplete: false })
    },
    /** A direct read is never older than what was known when it was asked: such an answer says nothing. */
    readDirectly(outcome: ReadOutcome<ObservedApplication>, askedAtMs: number, knownVersion: number) {
      const isCredible = outcome.kind !== 'read' || (isWatched(outcome.value) && outcome.value.version >= knownVersion)
      // One that a verdict needed may have overtaken one that was under way.
      const isNewest = askedAtMs >= (facts.directRead?.askedAtMs ?? askedAtMs)
      if (isNewest) facts.directRead = { askedAtMs, result: isCredible ? readResult(outcome) : 'failed' }
      if (outcome.kind === 'read' && isCredible) {
        if (isNewest) facts.refresh = observeRefreshDirectly(facts.refresh, outcome.value, askedAtMs)
        see({ kind: 'seen', application: outcome.value, isComplete: true })
      }
      if (outcome.kind === 'not_found' && facts.known.newest !== undefined) see({ kind: 'not_found' })
    },
    refreshAsked(askedAtMs: number) {
      facts.refresh = askRefresh(facts.refresh, askedAtMs)
    },
    /** The annotation is set; the end of the refresh will be seen elsewhere. */
    refreshAccepted() {
      const { pending } = facts.refresh
      if (pending !== undefined) facts.refresh = { ...facts.refresh, pending: { ...pending, acceptedAtMs: nowMs() } }
    },
    refreshRejected() {
      facts.refresh = { ...facts.refresh, pending: undefined }
    },
    refreshAnswered(application: ObservedApplication, askedAtMs: number) {
      facts.refresh = answerRefresh(facts.refresh, askedAtMs, application)
      see({ kind: 'seen', application, isComplete: true })
    },
    listAsked(askedAtMs: number) {
      facts.lastListAtMs = askedAtMs
    },
    keep(reading: Partial<Pick<ObservedFacts, 'tree' | 'managed' | 'windows' | 'podLog'>>) {
      Object.assign(facts, reading)
    },
    keepEvents: (uid: string, reading: Reading<readonly ResourceEvent[]>) => keepNewest(events, uid, reading),
    keepLivePod: (uid: string, reading: Reading<LivePod>) => keepNewest(livePods, uid, reading),
    keepAncestry(commit: string, revision: string, ancestry: Ancestry) {
      ancestries.set(ancestryKey(commit, revision), { ancestry, atMs: nowMs() })
    },
  }
}

/** How many resources of one application are looked into at a time. */
const maxReadings = 8

function keepNewest<Value>(readings: Map<string, Reading<Value>>, uid: string, reading: Reading<Value>): void {
  readings.delete(uid)
  readings.set(uid, reading)
  for (const oldest of [...readings.keys()].slice(0, -maxReadings)) readings.delete(oldest)
}

function readResult(outcome: ReadOutcome<unknown>): 'read' | 'missing' | 'not_found' | 'failed' {
  if (outcome.kind === 'read' || outcome.kind === 'not_found') return outcome.kind
  return outcome.kind === 'forbidden' ? 'missing' : 'failed'
}

/** A plain name means the application in the namespace of the controller itself, which recent versions report with each application. */
function isNamed(
  application: ObservedApplication,
  reference: ApplicationReference,
  controlPlaneNamespace: string,
): boolean {
  const namespace = reference.namespace ?? application.controllerNamespace ?? controlPlaneNamespace
  return application.name === reference.name && application.namespace === namespace
}
