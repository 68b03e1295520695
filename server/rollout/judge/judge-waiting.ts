import type { Cause } from '../../../contract/cause.ts'
import { imagesOf } from './gate-images.ts'
import { errorConditionsOf, type GateContext, isCurrent, isOperationActive } from './gates.ts'
import { isImageRunning } from './image-reference.ts'
import type { Gates } from './judge-gates.ts'
import type { ObservedApplication } from './observed-application.ts'
import type { Since } from './rollout-memory.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import { rolloutTimes } from './rollout-settings.ts'

/** Why a rollout stands still although nothing is wrong: what to say, and the cause if it stays so until the deadline. */
export type Stall = { readonly text: string; readonly cause: Cause; readonly hint: string }

export function judgeStall(context: GateContext, gates: Gates, observation: RolloutObservation): Stall | undefined {
  const { application } = context
  if (application.healthStatus === 'Suspended' && gates.isOpen('R') && !gates.isOpen('H')) return suspended
  if (isBlockedByWindow(application)) return windowStandstill(application.operation?.message ?? 'a sync window')
  const declared = declaredInstead(context, gates, observation)
  if (declared.length > 0) return withoutEffect(declared, context.settings.overrideFilePrefix)
  if (!isIdleOutOfSync(context, gates)) return undefined
  if (!application.isAutoSynced) return manualSync
  const syncError = application.conditions.find(({ type }) => type === 'SyncError')
  if (syncError !== undefined) return stopped(syncError.message)
  const blockedBy = observation.windows?.value?.blockedBy
  return blockedBy === undefined ? undefined : windowStandstill(`automated sync is blocked by ${blockedBy}`)
}

/** The other tags that the manifests declare although our commit is applied and everything but the images is as it should be. */
function declaredInstead(context: GateContext, gates: Gates, { managed }: RolloutObservation): readonly string[] {
  const { commit, wanted, settings } = context
  const isOnlyImages = gates.othersAreOpen && !gates.isOpen('I')
  if (commit === undefined || !isOnlyImages || managed?.value === undefined || !isCurrent(managed, context)) return []
  const { declaredImages } = managed.value
  const missing = wanted.filter((image) => !isImageRunning(image, declaredImages, settings))
  return [...new Set(missing.flatMap((image) => imagesOf(image, declaredImages, settings)))]
}

const withoutEffect = (declared: readonly string[], prefix: string): Stall => {
  const checks = [
    ...(prefix === 'argocd' ? [] : [`OVERRIDE_FILE_PREFIX is "${prefix}", and Argo CD reads only the prefix "argocd"`]),
    'a source of the application reads the folder of the override file',
    'the annotation manifest-generate-paths includes that folder',
    'the chart uses the parameters that the annotations of the application name',
  ]
  return {
    text: `the commit is applied, but the manifests still declare ${declared.join(', ')}`,
    cause: 'commit_without_effect',
    hint: `Check in this order: ${checks.map((check, index) => `${index + 1}. ${check}`).join('; ')}.`,
  }
}

const suspended: Stall = {
  text: 'the application is Suspended (paused)',
  cause: 'suspended',
  hint: 'Resume the paused rollout, or set ACCEPT_SUSPENDED_APP or the annotation accept-suspended if paused counts as done.',
}

const manualSync: Stall = {
  text: 'manual sync required: automated sync is off',
  cause: 'manual_sync_required',
  hint: 'Sync the application in Argo CD, or switch on automated sync. The service itself never syncs.',
}

const windowStandstill = (text: string): Stall => ({
  text,
  cause: 'sync_window',
  hint: 'Wait for the end of the sync window, or change the windows of the AppProject.',
})

/** Nobody but a person, or a new commit, gets it going again. */
const stopped = (message: string): Stall => ({
  text: `automated sync gave up: ${message}`,
  cause: 'auto_sync_stopped',
  hint: 'Sync the application by hand in Argo CD, or commit a fix.',
})

function isBlockedByWindow(application: ObservedApplication): boolean {
  return isOperationActive(application) && /blocked by sync window/i.test(application.operation?.message ?? '')
}

/** Compared with our revision, found different, and nobody does anything about it. */
export function isIdleOutOfSync({ application }: GateContext, gates: Gates): boolean {
  return gates.isOpen('R') && application.syncStatus === 'OutOfSync' && !isOperationActive(application)
}

/** A sync window leaves no trace in the application, so it must be asked for. */
export function nextWindowsAtMs(
  context: GateContext,
  since: Since,
  observation: RolloutObservation,
): number | undefined {
  const { idle_out_of_sync: idleSinceMs } = since
  if (idleSinceMs === undefined || !context.application.isAutoSynced) return undefined
  const askedAtMs = observation.windows?.askedAtMs ?? -Infinity
  return Math.max(idleSinceMs + rolloutTimes.idleBeforeWindowsMs, askedAtMs + rolloutTimes.windowsEveryMs)
}

/** One line that says what a task waits for. */
export function describeWaiting(context: GateContext, gates: Gates, stall: Stall | undefined): string {
  const { application } = context
  const [error] = errorConditionsOf(application)
  if (error !== undefined) return `${error.type}: ${error.message}`
  if (stall !== undefined) return stall.text
  const message = isOperationActive(application) ? application.operation?.message : undefined
  const waits = gates.closed.map(({ reason }) => reason)
  if (waits.length === 0) return 'waiting for the final check'
  return [`waiting for ${waits.join('; ')}`, ...(message === undefined ? [] : [`operation: ${message}`])].join('; ')
}
