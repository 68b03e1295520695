import type { ConditionName, ConditionState } from '../../../../contract/conditions.ts'
import type { ObservedApplication, ObservedCondition } from '../../observed/observed-application.ts'
import type { JudgeInput } from '../input/judge-input.ts'

/** One condition of a finished rollout. `note`: what has to be said although it is met. */
export type ConditionResult = {
  readonly name: ConditionName
  readonly state: ConditionState
  readonly expected?: string
  readonly found?: string
  readonly note?: string
}

/** The nine conditions, in the order of a rollout. */
export type Conditions = {
  readonly all: readonly ConditionResult[]
  readonly unmet: readonly ConditionResult[]
  readonly areMet: boolean
  /** All but the images: what may be decided by manifests instead of Pods. */
  readonly othersAreMet: boolean
  isMet(name: ConditionName): boolean
}

export const met = (name: ConditionName, note?: string): ConditionResult =>
  note === undefined ? { name, state: 'met' } : { name, state: 'met', note }

export const notMet = (name: ConditionName, expected: string, found?: string): ConditionResult =>
  found === undefined ? { name, state: 'not_met', expected } : { name, state: 'not_met', expected, found }

export const unknown = (name: ConditionName, expected: string, found?: string): ConditionResult => ({
  ...notMet(name, expected, found),
  state: 'unknown',
})

const errorTypes: ReadonlySet<string> = new Set([
  'ComparisonError',
  'InvalidSpecError',
  'UnknownError',
  'DeletionError',
])

/** Argo CD's own conditions of the application that are errors. */
export const appErrorsOf = ({ conditions }: ObservedApplication) =>
  conditions.filter(({ type }) => errorTypes.has(type))

/** What the repository server puts into an error that it found before; Argo CD takes that for another error. */
const cachedErrorMark = 'Manifest generation error (cached): '

/**
 * Whether some error has stood since the earlier evaluation. A comparison without errors in between may have stayed unseen, but
 * the time of an error that comes back is a new one.
 */
export function isErrorUnbroken(before: readonly ObservedCondition[], now: readonly ObservedCondition[]): boolean {
  const isSame = (earlier: ObservedCondition, { type, message, sinceMs }: ObservedCondition) =>
    earlier.type === type &&
    (earlier.sinceMs === sinceMs ||
      (message.includes(cachedErrorMark) && message.replace(cachedErrorMark, '') === earlier.message))
  return now.some((error) => before.some((earlier) => isSame(earlier, error)))
}

export function judgeAlive({ application, baseline, observation }: JudgeInput): ConditionResult {
  const expected = 'the application'
  if (observation.known.isGone) return notMet('alive', expected, 'deleted, or no longer readable')
  if (application.isDeleting) return notMet('alive', expected, 'being deleted')
  return application.uid === (baseline?.uid ?? application.uid) ? met('alive') : notMet('alive', expected, 're-created')
}

export function judgeNoErrors({ application }: JudgeInput): ConditionResult {
  const [error] = appErrorsOf(application)
  return error === undefined ? met('no_errors') : notMet('no_errors', 'none', `${error.type}: ${error.message}`)
}

export function judgeSynced({ application }: JudgeInput): ConditionResult {
  if (application.syncStatus === 'Synced') return met('synced')
  return notMet('synced', 'Synced', application.syncStatus ?? 'no status')
}

/**
 * Not met from the end of an operation until a comparison that started after it: health may still be from before.
 * Both times are Argo CD's own and have whole seconds. The same second is enough, unless the operation applied something older
 * than what is awaited (`isOlder`): then a comparison that began before its end shows what is no longer there.
 */
export function judgeComparedAfterOperation(
  { application }: Pick<JudgeInput, 'application'>,
  isOlder = false,
): ConditionResult {
  const finishedAtMs = application.operation?.finishedAtMs
  if (finishedAtMs === undefined) return met('compared_after_operation')
  const { reconciledAtMs } = application
  const isCompared = reconciledAtMs !== undefined && reconciledAtMs >= finishedAtMs
  if (isCompared && !(isOlder && isComparedInSameSecond(application))) return met('compared_after_operation')
  return notMet('compared_after_operation', 'a later comparison')
}

export function isComparedInSameSecond({ operation, reconciledAtMs }: ObservedApplication): boolean {
  return reconciledAtMs !== undefined && reconciledAtMs === operation?.finishedAtMs
}

export function judgeHealthy({ application: { healthStatus }, observation, settings }: JudgeInput): ConditionResult {
  if (healthStatus === 'Healthy') return met('healthy')
  const acceptSuspended = observation.annotations.acceptSuspended ?? settings.acceptSuspended
  if (healthStatus === 'Suspended' && acceptSuspended) return met('healthy', 'Suspended counts as done')
  return notMet('healthy', 'Healthy', healthStatus ?? 'no status')
}
