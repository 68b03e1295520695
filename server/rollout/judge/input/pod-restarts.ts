import type { ObservedPod } from '../../observed/observed-resources.ts'
import { isPodCrashing } from '../../observed/pod-states.ts'
import { rolloutTimes } from './rollout-settings.ts'

/** How often a Pod restarted since the awaited revision, as the reads of the tree showed it. */
export type PodRestarts = {
  /** The count from which restarts are this rollout's. */
  readonly base: number
  readonly count: number
  readonly firstMs: number
  /** The last read that showed another restart, or a container that waits for one. */
  readonly lastMs: number
}

export type RestartMemory = ReadonlyMap<string, PodRestarts>

/** Restarts that make a crash loop of a Pod, whatever state the reads between them show. */
const minRestarts = 2

/** Whether a Pod restarts again and again. Its containers are the caller's question. */
export const isRestarting = (restarts: PodRestarts | undefined): restarts is PodRestarts =>
  restarts !== undefined && restarts.count - restarts.base >= minRestarts

/**
 * Counts restarts over the reads of a tree that was answered at `nowMs`. A Pod that was created by the operation of
 * `operationStartedAtMs` or later owes all of its restarts to it; both times are the cluster's. After a minute without a
 * further restart the count starts again.
 */
export function rememberRestarts(
  known: RestartMemory,
  pods: readonly ObservedPod[],
  operationStartedAtMs: number | undefined,
  nowMs: number,
): RestartMemory {
  return new Map(
    pods.flatMap((pod) => {
      const restarts = nextRestarts(known.get(pod.uid), pod, operationStartedAtMs, nowMs)
      return restarts === undefined ? [] : [[pod.uid, restarts] as const]
    }),
  )
}

function nextRestarts(
  earlier: PodRestarts | undefined,
  pod: ObservedPod,
  operationStartedAtMs: number | undefined,
  nowMs: number,
): PodRestarts | undefined {
  const count = pod.restarts ?? 0
  if (earlier === undefined) {
    const isNew = (pod.createdAtMs ?? -Infinity) >= (operationStartedAtMs ?? Number.POSITIVE_INFINITY)
    return { base: isNew ? 0 : count, count, firstMs: nowMs, lastMs: nowMs }
  }
  const isLater = count > earlier.count
  if (isLater || isPodCrashing(pod)) {
    const firstMs = earlier.count > earlier.base ? earlier.firstMs : nowMs
    return { ...earlier, count: Math.max(count, earlier.count), firstMs, lastMs: nowMs }
  }
  const isQuiet = nowMs - earlier.lastMs >= rolloutTimes.quietAfterRestartMs
  return isQuiet ? { base: count, count, firstMs: nowMs, lastMs: nowMs } : earlier
}
