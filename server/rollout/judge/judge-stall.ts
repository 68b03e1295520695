import type { Cause } from '../../../contract/causes.ts'
import { type Conditions, isOperationActive } from './conditions.ts'
import { imagesOf, isImageRunning } from './image-reference.ts'
import type { ObservedApplication } from './observed-application.ts'
import { rolloutTimes } from './rollout-settings.ts'
import { isCurrent, type Snapshot } from './snapshot.ts'

/** Why a rollout stands still although nothing is wrong: the cause if it stays so until the deadline. */
export type Stall = { readonly cause: Cause; readonly message: string }

/** Why it stands still, if it does. */
export function judgeStall(snapshot: Snapshot, conditions: Conditions): Stall | undefined {
  const { application, observation } = snapshot
  const isSuspended = application.healthStatus === 'Suspended' && !conditions.isMet('healthy')
  if (isSuspended && conditions.isMet('revision')) return { cause: 'suspended', message: '' }
  if (isBlockedByWindow(application))
    return { cause: 'sync_window', message: application.operation?.message ?? 'blocked by a sync window' }
  const declared = declaredInstead(snapshot, conditions)
  if (declared.length > 0)
    return { cause: 'commit_without_effect', message: `the manifests still declare ${declared.join(', ')}` }
  if (!isIdleOutOfSync(snapshot, conditions)) return undefined
  if (!application.isAutoSynced) return { cause: 'manual_sync_required', message: '' }
  const syncError = application.conditions.find(({ type }) => type === 'SyncError')
  // Only a person, or a new commit, gets it going again.
  if (syncError !== undefined) return { cause: 'auto_sync_stopped', message: syncError.message }
  const blockedBy = observation.windows?.value?.blockedBy
  if (blockedBy === undefined) return undefined
  return { cause: 'sync_window', message: `automated sync is blocked by ${blockedBy}` }
}

/** The other tags that the manifests declare although the commit is applied and every condition but the images is met. */
function declaredInstead(snapshot: Snapshot, conditions: Conditions): readonly string[] {
  const { commit, task, settings, observation } = snapshot
  const { managed } = observation
  const isOnlyImages = conditions.othersAreMet && !conditions.isMet('images')
  if (commit === undefined || !isOnlyImages || managed?.value === undefined || !isCurrent(managed, snapshot)) return []
  const { declaredImages } = managed.value
  const missing = task.images.filter((image) => !isImageRunning(image, declaredImages, settings))
  return [...new Set(missing.flatMap((image) => imagesOf(image, declaredImages, settings)))]
}

function isBlockedByWindow(application: ObservedApplication): boolean {
  return isOperationActive(application) && /blocked by sync window/i.test(application.operation?.message ?? '')
}

/** Compared with the awaited revision, found different, and nothing is under way to change that. */
export function isIdleOutOfSync({ application }: Snapshot, { isMet }: Conditions): boolean {
  return isMet('revision') && application.syncStatus === 'OutOfSync' && !isOperationActive(application)
}

/** A sync window leaves no trace in the application, so it must be asked for. */
export function nextWindowsAtMs({ application, memory, observation }: Snapshot): number | undefined {
  const { idle_out_of_sync: idleSinceMs } = memory.since
  if (idleSinceMs === undefined || !application.isAutoSynced) return undefined
  const askedAtMs = observation.windows?.askedAtMs ?? -Infinity
  return Math.max(idleSinceMs + rolloutTimes.idleBeforeWindowsMs, askedAtMs + rolloutTimes.windowsEveryMs)
}
