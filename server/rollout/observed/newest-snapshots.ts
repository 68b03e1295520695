import type { ObservedApplication } from './observed-application.ts'

/** Something the delivery controller let us see of one application. */
export type ApplicationUpdate =
  | { readonly kind: 'seen'; readonly application: ObservedApplication; readonly isComplete: boolean }
  | { readonly kind: 'deleted'; readonly application: ObservedApplication }
  /** A direct read with the right project said that it is not there. */
  | { readonly kind: 'not_found' }
  /** A List that was asked at `askedAtMs` did not hold it; `version` is the state that the List was taken from. */
  | { readonly kind: 'absent'; readonly askedAtMs: number; readonly version: number }

/** What is known of one application: the newest state and whether it is still there. */
export type KnownApplication = {
  readonly newest: ObservedApplication | undefined
  /** Since this version nothing changed that a verdict rests on: what was read about it meanwhile still holds. */
  readonly unchangedSinceVersion: number | undefined
  /** Deleted, or no longer shown to us. */
  readonly isGone: boolean
  /** The delivery controller reported the deletion of `newest`: that uid never comes back. */
  readonly isDeleted: boolean
  /** Lists in a row that did not hold it. */
  readonly absences: number
  /** When the last of them was asked. */
  readonly absentAskedAtMs: number | undefined
  readonly seenAtMs: number | undefined
}

export const nothingKnown: KnownApplication = Object.freeze({
  newest: undefined,
  unchangedSinceVersion: undefined,
  isGone: false,
  isDeleted: false,
  absences: 0,
  absentAskedAtMs: undefined,
  seenAtMs: undefined,
})

/** One List may come from a replica that lags; two in a row that miss it mean that it is gone or may no longer be read. */
const absencesThatMeanGone = 2

/**
 * Merges one update. The highest version wins whatever the order of arrival; a new uid is a re-created application.
 * Versions of different objects of one cluster can be compared, so an old incarnation never replaces a newer one.
 */
export function mergeUpdate(known: KnownApplication, update: ApplicationUpdate, nowMs: number): KnownApplication {
  switch (update.kind) {
    case 'seen':
      return mergeSeen(known, update.application, update.isComplete, nowMs)
    case 'deleted':
      return isOlderIncarnation(known, update.application)
        ? known
        : { ...known, newest: newerOf(known.newest, update.application), isGone: true, isDeleted: true }
    case 'not_found':
      return { ...known, isGone: known.newest !== undefined }
    case 'absent':
      return mergeAbsence(known, update.askedAtMs, update.version)
  }
}

function mergeSeen(
  known: KnownApplication,
  seen: ObservedApplication,
  isComplete: boolean,
  nowMs: number,
): KnownApplication {
  if (known.newest !== undefined && isHistory(known, known.newest, seen)) return known
  const newest = known.newest !== undefined && !replaces(known.newest, seen, isComplete) ? known.newest : seen
  const unchangedSinceVersion = isUnchanged(known.newest, newest) ? known.unchangedSinceVersion : newest.version
  return { ...nothingKnown, newest, unchangedSinceVersion, seenAtMs: nowMs }
}

/** A refresh alone makes several versions that differ in nothing but its annotation and the time of the comparison. */
function isUnchanged(before: ObservedApplication | undefined, after: ObservedApplication): boolean {
  return before !== undefined && (before === after || stateOf(before) === stateOf(after))
}

const stateOf = ({ uid, isDeleting, isOperationRequested, ...status }: ObservedApplication): string =>
  JSON.stringify([
    [uid, isDeleting, isOperationRequested, status.syncStatus, status.healthStatus, status.revisions, status.images],
    [status.operation?.phase, status.operation?.startedAtMs, status.operation?.finishedAtMs],
    status.conditions,
  ])

/** A deleted incarnation, or one from before the newest. */
function isHistory(known: KnownApplication, newest: ObservedApplication, seen: ObservedApplication): boolean {
  return seen.uid === newest.uid ? known.isDeleted : seen.version < newest.version
}

/** A List lacks the health of resources, so at the same version only a complete update replaces what is known. */
function replaces(newest: ObservedApplication, seen: ObservedApplication, isComplete: boolean): boolean {
  return seen.version > newest.version || (seen.version === newest.version && isComplete) || seen.uid !== newest.uid
}

function isOlderIncarnation(known: KnownApplication, deleted: ObservedApplication): boolean {
  return known.newest !== undefined && known.newest.uid !== deleted.uid && deleted.version < known.newest.version
}

function newerOf(newest: ObservedApplication | undefined, seen: ObservedApplication): ObservedApplication {
  return newest !== undefined && newest.version > seen.version ? newest : seen
}

function mergeAbsence(known: KnownApplication, askedAtMs: number, version: number): KnownApplication {
  const isStale = known.newest !== undefined && version > 0 && version < known.newest.version
  if (isStale || (known.seenAtMs !== undefined && known.seenAtMs >= askedAtMs)) return known
  const absences = known.absences + 1
  return {
    ...known,
    absences,
    absentAskedAtMs: askedAtMs,
    isGone: known.isGone || (known.newest !== undefined && absences >= absencesThatMeanGone),
  }
}
