import { rolloutTimes } from './rollout-settings.ts'

export type RefreshNeed = {
  readonly mayRefresh: boolean
  readonly hasCommit: boolean
  readonly isRevisionMet: boolean
  /** Without a commit of ours: the change that somebody else commits has begun to show. */
  readonly isChangeVisible: boolean
  readonly acceptedAtMs: number
  /** Since when the comparison after an operation is missing. */
  readonly awaitingComparisonSinceMs: number | undefined
  readonly fromMs: number
  readonly asks: number
  readonly askedAtMs: number | undefined
  /** When any task last asked for one, also before this one needed it. */
  readonly anyAskedAtMs: number | undefined
  /** Since when a refresh that is not ours is running. One asked meanwhile would be dropped and answered with its result. */
  readonly foreignSinceMs: number | undefined
  /** Without a commit: no refresh was under way at some time since this one is needed, so that one asked now proves something. */
  readonly isClear: boolean
  /** That was so already when the last one was asked. */
  readonly wasClear: boolean
}

/** When the next refresh is due, in milliseconds on the judge's clock; `undefined`: none is needed as things stand. */
export function nextRefreshAtMs(need: RefreshNeed): number | undefined {
  if (!need.mayRefresh) return undefined
  const dues = [revisionDueMs(need), comparisonDueMs(need)].filter((due) => due !== undefined)
  if (dues.length === 0) return undefined
  const apart = (need.anyAskedAtMs ?? -Infinity) + rolloutTimes.refreshApartMs
  const foreign = (need.foreignSinceMs ?? -Infinity) + rolloutTimes.foreignRefreshMs
  return Math.max(Math.min(...dues), apart, foreign)
}

function revisionDueMs(need: RefreshNeed): number | undefined {
  const { hasCommit, isRevisionMet, fromMs, asks, askedAtMs } = need
  if (!hasCommit) return ownComparisonDueMs(need)
  if (isRevisionMet) return undefined
  if (asks === 0 || askedAtMs === undefined) return fromMs
  const again = rolloutTimes.refreshAgainMs[asks - 1]
  return again === undefined ? askedAtMs + rolloutTimes.refreshEveryMs : Math.max(fromMs + again, askedAtMs)
}

/** One that proves something, as soon as that can be told; then more of them until the change of somebody else shows. */
function ownComparisonDueMs(need: RefreshNeed): number | undefined {
  const { isRevisionMet, isChangeVisible, fromMs, asks, askedAtMs, isClear, wasClear } = need
  if (isRevisionMet && isChangeVisible) return undefined // also by what an earlier owner was answered
  if (asks === 0 || askedAtMs === undefined) return isClear ? fromMs : fromMs + rolloutTimes.foreignRefreshMs
  return isClear && !wasClear ? fromMs : nextRefreshMs(askedAtMs, need.acceptedAtMs)
}

/**
 * A pipeline may push after it submits, and without a webhook Argo CD itself looks every two to three minutes: refreshes follow
 * each other quickly at first, then less often the older the task is.
 */
function nextRefreshMs(askedAtMs: number, acceptedAtMs: number): number {
  const ageMs = askedAtMs - acceptedAtMs
  if (ageMs < rolloutTimes.secondRefreshMs) return acceptedAtMs + rolloutTimes.secondRefreshMs
  const pace = rolloutTimes.laterRefreshes.find(({ untilAgeMs }) => ageMs < untilAgeMs)
  return askedAtMs + (pace?.everyMs ?? rolloutTimes.lateRefreshEveryMs)
}

/** One refresh for one missing comparison: another only after the usual long wait. */
function comparisonDueMs({ awaitingComparisonSinceMs, askedAtMs }: RefreshNeed): number | undefined {
  if (awaitingComparisonSinceMs === undefined) return undefined
  const wasAsked = askedAtMs !== undefined && askedAtMs > awaitingComparisonSinceMs
  return wasAsked
    ? askedAtMs + rolloutTimes.refreshEveryMs
    : awaitingComparisonSinceMs + rolloutTimes.postOperationWaitMs
}
