import type { Reading } from '../judge/input/rollout-observation.ts'
import { type ApplicationAddress, type ReadOutcome, unreachableBy } from '../observed/delivery-controller.ts'
import type { ResourceAddress } from '../observed/observed-resources.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'
import { addressOf, type WatchedApplication } from './watched-application.ts'

type Dependencies = Pick<RolloutWatcherDeps, 'controller' | 'clock' | 'readPodLog' | 'onRefreshAnswered'> & {
  /** A call has failed: find out whether all do. */
  checkReachability(): void
}

export type ControllerCalls = ReturnType<typeof createControllerCalls>

/** Asks the delivery controller about one application, and keeps what it answers with what is held of that application. */
export function createControllerCalls(deps: Dependencies) {
  const { controller, clock } = deps

  const checkReachabilityAfter = (outcome: { readonly kind: string }) => {
    if (outcome.kind === 'unreachable' || outcome.kind === 'unauthorized') deps.checkReachability()
  }

  const reading = async <Value>(
    application: WatchedApplication,
    call: (address: ApplicationAddress) => Promise<ReadOutcome<Value>>,
  ): Promise<Reading<Value>> => {
    const asked = { askedAtMs: clock.nowMs(), version: application.observations.facts.known.newest?.version ?? 0 }
    const outcome = await call(addressOf(application)).catch(unreachableBy)
    checkReachabilityAfter(outcome)
    return { ...asked, value: outcome.kind === 'read' ? outcome.value : undefined }
  }

  const readPodLog = async (application: WatchedApplication, { uid }: ResourceAddress) => {
    const { observations } = application
    const pod = observations.facts.tree?.value?.pods.find((one) => one.uid === uid)
    const log = pod && (await deps.readPodLog?.(addressOf(application), pod))
    if (log !== undefined) observations.keep({ podLog: { uid, log } })
  }

  return {
    async read(application: WatchedApplication) {
      const askedAtMs = clock.nowMs()
      const knownVersion = application.observations.facts.known.newest?.version ?? 0
      const outcome = await controller.readApplication(addressOf(application)).catch(unreachableBy)
      application.observations.readDirectly(outcome, askedAtMs, knownVersion)
      checkReachabilityAfter(outcome)
    },

    async refresh(application: WatchedApplication) {
      const { observations } = application
      const askedAtMs = clock.nowMs()
      observations.refreshAsked(askedAtMs)
      const outcome = await controller.refreshApplication(addressOf(application)).catch(unreachableBy)
      if (outcome.kind === 'asked') return observations.refreshAccepted()
      if (outcome.kind !== 'read') {
        if (outcome.kind !== 'unreachable') observations.refreshRejected()
        return checkReachabilityAfter(outcome)
      }
      deps.onRefreshAnswered?.(application.app, clock.nowMs() - askedAtMs)
      observations.refreshAnswered(outcome.value, askedAtMs)
    },

    /** By name first; where only a namesake elsewhere is found, all are looked through. */
    async list({ reference: { name, namespace }, observations }: WatchedApplication) {
      const askedAtMs = clock.nowMs()
      observations.listAsked(askedAtMs)
      const named = await controller.listApplications({ name, namespace }).catch(unreachableBy)
      const isNamesake =
        named.kind === 'read' && named.value.applications.length > 0 && observations.findIn(named.value) === undefined
      const outcome = isNamesake ? await controller.listApplications().catch(unreachableBy) : named
      if (outcome.kind === 'read') observations.seeInList(outcome.value, askedAtMs)
      checkReachabilityAfter(outcome)
    },

    async readTree(application: WatchedApplication) {
      application.observations.keep({ tree: await reading(application, controller.readResourceTree) })
    },

    async readManagedResources(application: WatchedApplication) {
      application.observations.keep({ managed: await reading(application, controller.readManagedResources) })
    },

    async readSyncWindows(application: WatchedApplication) {
      application.observations.keep({ windows: await reading(application, controller.readSyncWindows) })
    },

    /** What happened to a resource and, of a Pod and if asked for, what it wrote. */
    async readEvents(application: WatchedApplication, resource: ResourceAddress) {
      const [events] = await Promise.all([
        reading(application, (address) => controller.readEvents(address, resource)),
        readPodLog(application, resource),
      ])
      application.observations.keepEvents(resource.uid, events)
    },

    async readLivePod(application: WatchedApplication, pod: ResourceAddress) {
      const livePod = await reading(application, (address) => controller.readLivePod(address, pod))
      application.observations.keepLivePod(pod.uid, livePod)
    },
  }
}
