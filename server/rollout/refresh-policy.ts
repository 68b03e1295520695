import { rolloutTimes } from './rollout-settings.ts'

export type RefreshNeed = {
  readonly mayRefresh: boolean
  /** Where nothing was committed by us, one refresh is enough until somebody else's commit is awaited. */
  readonly hasCommit: boolean
  readonly isRevisionOpen: boolean
  /** Without a commit: neither revision nor images differ from the baseline. */
  readonly hasMoved: boolean
  /** Since when the comparison after an operation is missing. */
  readonly awaitingComparisonSinceMs: number | undefined
  readonly fromMs: number
  readonly asks: number
  readonly askedAtMs: number | undefined
  /** When any task last asked for one, also before this one needed it. */
  readonly anyAskedAtMs: number | undefined
  /** Since when a refresh that is not ours is running. One asked meanwhile would be dropped and answered with its result. */
  readonly foreignSinceMs: number | undefined
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

function revisionDueMs({
  hasCommit,
  isRevisionOpen,
  hasMoved,
  fromMs,
  asks,
  askedAtMs,
}: RefreshNeed): number | undefined {
  if (asks === 0 || askedAtMs === undefined) return isRevisionOpen && hasCommit ? undefined : fromMs
  if (!hasCommit) return isRevisionOpen && hasMoved ? undefined : askedAtMs + rolloutTimes.refreshEveryMs
  if (isRevisionOpen) return undefined
  const again = rolloutTimes.refreshAgainMs[asks - 1]
  return again === undefined ? askedAtMs + rolloutTimes.refreshEveryMs : Math.max(fromMs + again, askedAtMs)
}

/** One refresh for one missing comparison: another only after the usual long wait. */
function comparisonDueMs({ awaitingComparisonSinceMs, askedAtMs }: RefreshNeed): number | undefined {
  if (awaitingComparisonSinceMs === undefined) return undefined
  const wasAsked = askedAtMs !== undefined && askedAtMs > awaitingComparisonSinceMs
  return wasAsked
    ? askedAtMs + rolloutTimes.refreshEveryMs
    : awaitingComparisonSinceMs + rolloutTimes.postOperationWaitMs
}
