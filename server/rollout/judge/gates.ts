import type { Image } from '../../../contract/task.ts'
import type { ObservedApplication, ObservedCondition } from './observed-application.ts'
import type { RefreshObservation, RolloutObservation } from './rollout-observation.ts'
import type { RolloutSettings } from './rollout-settings.ts'
import type { Baseline } from './watched-task.ts'

/** alive, no errors, revision, synced, operation over, post-operation comparison, healthy, images, verified. */
const gateNames = ['D', 'N', 'R', 'S', 'O', 'P', 'H', 'I', 'V'] as const
export type GateName = (typeof gateNames)[number]

/** One condition of a finished rollout: open, or closed with what it waits for and the value it saw. */
export type Gate =
  | { readonly name: GateName; readonly isOpen: true; readonly note?: string }
  | { readonly name: GateName; readonly isOpen: false; readonly reason: string }

/** The commit that a rollout must reach. */
export type AwaitedCommit = {
  readonly commit: string
  readonly repository: string
  readonly branch: string
  /** False when nothing had to be committed: the wanted content may be older than the task. */
  readonly isNew: boolean
}

/** What the gates look at: one snapshot, and what is known around it. */
export type GateContext = {
  readonly application: ObservedApplication
  /** The first version that differs from this one in nothing that counts. */
  readonly unchangedSinceVersion: number
  readonly wanted: readonly Image[]
  readonly commit: AwaitedCommit | undefined
  readonly baseline: Baseline | undefined
  /** The first uid that was seen. */
  readonly uid: string
  readonly mayRefresh: boolean
  /** From when on a refresh must have begun to prove something: acceptance, or the arrival of our commit. */
  readonly refreshFromMs: number
  readonly refresh: RefreshObservation
  /** Nobody's change has come although there was time and two refreshes, or more time where none may be asked. */
  readonly isChangeOverdue: boolean
  /** An earlier snapshot was compared with our commit or a later one. */
  readonly hasReached: boolean
  readonly comparisons: readonly number[]
  readonly observation: Pick<RolloutObservation, 'relations' | 'tree' | 'managed'>
  readonly acceptSuspended: boolean
  readonly settings: Pick<RolloutSettings, 'registryProxy' | 'isStrict' | 'overrideFilePrefix'>
}

/** Whether what was read while `version` was the newest speaks of this snapshot. */
export function isCurrent({ version }: { readonly version: number }, context: GateContext): boolean {
  return version >= context.unchangedSinceVersion && version <= context.application.version
}

export const open = (name: GateName, note?: string): Gate =>
  note === undefined ? { name, isOpen: true } : { name, isOpen: true, note }
export const closed = (name: GateName, reason: string): Gate => ({ name, isOpen: false, reason })

const errorConditions: ReadonlySet<string> = new Set([
  'ComparisonError',
  'InvalidSpecError',
  'UnknownError',
  'DeletionError',
])

export function errorConditionsOf(application: ObservedApplication) {
  return application.conditions.filter(({ type }) => errorConditions.has(type))
}

/** What the repository server puts into an error that it found before; Argo CD takes that for another error. */
const cachedErrorMark = 'Manifest generation error (cached): '

/**
 * Whether some error has stood since the earlier look. A comparison without errors in between may have stayed unseen, but the time
 * of an error that comes back is a new one.
 */
export function isErrorUnbroken(before: readonly ObservedCondition[], now: readonly ObservedCondition[]): boolean {
  const isSame = (earlier: ObservedCondition, { type, message, sinceMs }: ObservedCondition) =>
    earlier.type === type &&
    (earlier.sinceMs === sinceMs ||
      (message.includes(cachedErrorMark) && message.replace(cachedErrorMark, '') === earlier.message))
  return now.some((error) => before.some((earlier) => isSame(earlier, error)))
}

export function gateAlive({ application, uid }: Pick<GateContext, 'application' | 'uid'>): Gate {
  if (application.isDeleting) return closed('D', 'the application is being deleted')
  return application.uid === uid ? open('D') : closed('D', 'the application was re-created')
}

export function gateNoErrors({ application }: Pick<GateContext, 'application'>): Gate {
  const [error] = errorConditionsOf(application)
  return error === undefined ? open('N') : closed('N', `no ${error.type}, but: ${error.message}`)
}

export function gateSynced({ application }: Pick<GateContext, 'application'>): Gate {
  if (application.syncStatus === 'Synced') return open('S')
  return closed('S', `sync status Synced, not ${application.syncStatus ?? 'none'}`)
}

/** Requested, running, or waiting for its next attempt (phase Running with an end time). A dry run changes nothing. */
export function isOperationActive({ isOperationRequested, operation }: ObservedApplication): boolean {
  if (operation?.isDryRun === true && operation.phase !== undefined) return false
  return isOperationRequested || operation?.phase === 'Running' || operation?.phase === 'Terminating'
}

export function hasOperationFailed({ operation }: ObservedApplication): boolean {
  return operation !== undefined && !operation.isDryRun && (operation.phase === 'Failed' || operation.phase === 'Error')
}

/**
 * Closed from the end of an operation until a comparison that started after it: health may still be from before.
 * Both times are the delivery controller's own and have whole seconds. The same second is enough, unless the operation applied
 * something older than what is awaited (`isOlder`): then a comparison that began before its end shows what is no longer there.
 */
export function gatePostOperation({ application }: Pick<GateContext, 'application'>, isOlder = false): Gate {
  const finishedAtMs = application.operation?.finishedAtMs
  if (finishedAtMs === undefined) return open('P')
  const { reconciledAtMs } = application
  const isCompared = reconciledAtMs !== undefined && reconciledAtMs >= finishedAtMs
  if (isCompared && !(isOlder && isComparedInSameSecond(application))) return open('P')
  return closed('P', 'a comparison after the operation')
}

export function isComparedInSameSecond({ operation, reconciledAtMs }: ObservedApplication): boolean {
  return reconciledAtMs !== undefined && reconciledAtMs === operation?.finishedAtMs
}

export function gateHealthy(context: Pick<GateContext, 'application' | 'acceptSuspended'>): Gate {
  const { healthStatus } = context.application
  if (healthStatus === 'Healthy') return open('H')
  if (healthStatus === 'Suspended' && context.acceptSuspended) return open('H', 'Suspended counts as done')
  return closed('H', `health status Healthy, not ${healthStatus ?? 'none'}`)
}
