import type { WantedAction } from './rollout-observation.ts'
import type { WatchedApplication } from './watched-application.ts'

/** How long a refresh waits for commits of other tasks that are on their way to the Git host. */
const commitsWaitMs = 2_000
/** Direct reads of one application are this far apart, and a reading of one snapshot waits until it has stood this long. */
const briefMs = 200

type SharedCalls = Pick<WatchedApplication<unknown>, 'tasks' | 'directRead' | 'changedAtMs' | 'refreshHeldSinceMs'>

/**
 * How many milliseconds a call waits so that it serves more than the task that wants it: tasks of one application come, land
 * and end close together, and the calls about them must not grow with their number. 0: it need not wait.
 */
export function sharingWaitMs(application: SharedCalls, { kind }: WantedAction, nowMs: number): number {
  const { directRead, changedAtMs, refreshHeldSinceMs } = application
  const until = (atMs: number) => Math.max(0, atMs - nowMs)
  if (kind === 'refresh' && hasCommitsOnTheirWay(application))
    return until((refreshHeldSinceMs ?? nowMs) + commitsWaitMs)
  if (kind === 'read' && directRead?.result === 'read') return until(directRead.askedAtMs + briefMs)
  // It decides for the snapshot that it was asked at and for no other.
  return kind === 'managed_resources' ? until((changedAtMs ?? 0) + briefMs) : 0
}

export const hasCommitsOnTheirWay = ({ tasks }: Pick<SharedCalls, 'tasks'>) =>
  [...tasks.values()].some(({ writeBack, isOver }) => writeBack.kind === 'pending' && !isOver)
