import type { ApplicationReference } from '../../../contract/application-name.ts'
import type { Clock } from '../../concurrency/clock.ts'
import { type ApplicationUpdate, mergeUpdate } from '../judge/newest-snapshots.ts'
import type { ObservedApplication } from '../judge/observed-application.ts'
import { observeRefresh } from '../judge/rollout-observation.ts'
import type { ApplicationList } from './delivery-controller.ts'
import type { WatchedApplication } from './watched-application.ts'

export type ApplicationUpdates = ReturnType<typeof createApplicationUpdates>
type Watched = WatchedApplication

/** Merges what is seen of applications, wherever it comes from, into what is held of those that tasks wait for. */
export function createApplicationUpdates(clock: Pick<Clock, 'nowMs'>, controlPlaneNamespace: string) {
  const isWatched = ({ reference }: Pick<Watched, 'reference'>, seen: ObservedApplication) =>
    isNamed(seen, reference, controlPlaneNamespace)

  const findIn = (application: Pick<Watched, 'reference'>, list: ApplicationList) =>
    list.applications.find((listed) => isWatched(application, listed))

  const see = (application: WatchedApplication, update: ApplicationUpdate) => {
    if ('application' in update && !isWatched(application, update.application)) return
    const before = application.known
    application.known = mergeUpdate(before, update, clock.nowMs())
    const { newest } = application.known
    if (newest === undefined || newest === before.newest) return
    application.changedAtMs = clock.nowMs()
    application.refresh = observeRefresh(application.refresh, newest)
  }

  return {
    isWatched,
    findIn,
    see,
    seeInList(application: WatchedApplication, list: ApplicationList, askedAtMs: number) {
      const found = findIn(application, list)
      if (found === undefined) see(application, { kind: 'absent', askedAtMs, version: list.version })
      else see(application, { kind: 'seen', application: found, isComplete: false })
    },
  }
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
