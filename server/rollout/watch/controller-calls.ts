import {
  answerRefresh,
  askRefresh,
  observeRefreshDirectly,
  type Reading,
  type ResourceAddress,
} from '../judge/rollout-observation.ts'
import type { ApplicationUpdates } from './application-updates.ts'
import { type ApplicationAddress, type ReadOutcome, unreachableBy } from './delivery-controller.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import { addressOf, type WatchedApplication } from './watched-application.ts'

type Dependencies = Pick<RolloutWatcherDeps, 'controller' | 'clock' | 'readPodLog' | 'onRefreshAnswered'> & {
  readonly updates: ApplicationUpdates
  /** A call has failed: find out whether all do. */
  checkReachability(): void
}

export type ControllerCalls = ReturnType<typeof createControllerCalls>

/** Asks the delivery controller about one application, and keeps what it answers with what is held of that application. */
export function createControllerCalls(deps: Dependencies) {
  const { controller, clock, updates } = deps

  const checkReachabilityAfter = (outcome: { readonly kind: string }) => {
    if (outcome.kind === 'unreachable' || outcome.kind === 'unauthorized') deps.checkReachability()
  }

  const reading = async <Value>(
    application: WatchedApplication,
    call: (address: ApplicationAddress) => Promise<ReadOutcome<Value>>,
  ): Promise<Reading<Value>> => {
    const asked = { askedAtMs: clock.nowMs(), version: application.known.newest?.version ?? 0 }
    const outcome = await call(addressOf(application)).catch(unreachableBy)
    checkReachabilityAfter(outcome)
    return { ...asked, value: outcome.kind === 'read' ? outcome.value : undefined }
  }

  const noteAccepted = (application: WatchedApplication) => {
    const { pending } = application.refresh
    if (pending === undefined) return
    application.refresh = { ...application.refresh, pending: { ...pending, acceptedAtMs: clock.nowMs() } }
  }

  const readPodLog = async (application: WatchedApplication, { uid }: ResourceAddress) => {
    const pod = application.tree?.value?.pods.find((one) => one.uid === uid)
    const log = pod && (await deps.readPodLog?.(addressOf(application), pod))
    if (log !== undefined) application.podLog = { uid, log }
  }

  return {
    async read(application: WatchedApplication) {
      const askedAtMs = clock.nowMs()
      const knownVersion = application.known.newest?.version ?? 0
      const outcome = await controller.readApplication(addressOf(application)).catch(unreachableBy)
      // A direct read is never older than what was known when it was asked: such an answer says nothing.
      const isCredible =
        outcome.kind !== 'read' ||
        (updates.isWatched(application, outcome.value) && outcome.value.version >= knownVersion)
      // One that a verdict needed may have overtaken one that was under way.
      const isNewest = askedAtMs >= (application.directRead?.askedAtMs ?? askedAtMs)
      if (isNewest) application.directRead = { askedAtMs, result: isCredible ? readResult(outcome) : 'failed' }
      if (outcome.kind === 'read' && isCredible) {
        if (isNewest) application.refresh = observeRefreshDirectly(application.refresh, outcome.value, askedAtMs)
        updates.see(application, { kind: 'seen', application: outcome.value, isComplete: true })
      }
      if (outcome.kind === 'not_found' && application.known.newest !== undefined)
        updates.see(application, { kind: 'not_found' })
      checkReachabilityAfter(outcome)
    },

    async refresh(application: WatchedApplication) {
      const askedAtMs = clock.nowMs()
      application.refresh = askRefresh(application.refresh, askedAtMs)
      const outcome = await controller.refreshApplication(addressOf(application)).catch(unreachableBy)
      if (outcome.kind === 'asked') return noteAccepted(application)
      if (outcome.kind !== 'read') {
        if (outcome.kind !== 'unreachable') application.refresh = { ...application.refresh, pending: undefined }
        return checkReachabilityAfter(outcome)
      }
      application.refresh = answerRefresh(application.refresh, askedAtMs, outcome.value)
      deps.onRefreshAnswered?.(application.app, clock.nowMs() - askedAtMs)
      updates.see(application, { kind: 'seen', application: outcome.value, isComplete: true })
    },

    /** By name first; where only a namesake elsewhere is found, all are looked through. */
    async list(application: WatchedApplication) {
      const askedAtMs = clock.nowMs()
      application.lastListAtMs = askedAtMs
      const { name, namespace } = application.reference
      const named = await controller.listApplications({ name, namespace }).catch(unreachableBy)
      const isNamesake =
        named.kind === 'read' &&
        named.value.applications.length > 0 &&
        updates.findIn(application, named.value) === undefined
      const outcome = isNamesake ? await controller.listApplications().catch(unreachableBy) : named
      if (outcome.kind === 'read') updates.seeInList(application, outcome.value, askedAtMs)
      checkReachabilityAfter(outcome)
    },

    async readTree(application: WatchedApplication) {
      application.tree = await reading(application, controller.readResourceTree)
    },

    async readManagedResources(application: WatchedApplication) {
      application.managed = await reading(application, controller.readManagedResources)
    },

    async readSyncWindows(application: WatchedApplication) {
      application.windows = await reading(application, controller.readSyncWindows)
    },

    /** What happened to a resource and, of a Pod and if asked for, what it wrote. */
    async readEvents(application: WatchedApplication, resource: ResourceAddress) {
      const [events] = await Promise.all([
        reading(application, (address) => controller.readEvents(address, resource)),
        readPodLog(application, resource),
      ])
      keep(application.events, resource.uid, events)
    },

    async readLivePod(application: WatchedApplication, pod: ResourceAddress) {
      keep(application.livePods, pod.uid, await reading(application, (address) => controller.readLivePod(address, pod)))
    },
  }
}

/** How many resources of one application are looked into at a time. */
const maxReadings = 8

function keep<Value>(readings: Map<string, Reading<Value>>, uid: string, reading: Reading<Value>): void {
  readings.delete(uid)
  readings.set(uid, reading)
  for (const oldest of [...readings.keys()].slice(0, -maxReadings)) readings.delete(oldest)
}

function readResult(outcome: ReadOutcome<unknown>): 'read' | 'missing' | 'not_found' | 'failed' {
  if (outcome.kind === 'read' || outcome.kind === 'not_found') return outcome.kind
  return outcome.kind === 'forbidden' ? 'missing' : 'failed'
}
