import type { ResourceEvent } from '../../rollout/observed/observed-resources.ts'
import { listAt, numberAt, objectAt, textAt, timeAt } from './untrusted-json.ts'

/** Reads the answer of `events`, the oldest event first. A newer form of event has a series in place of a count. */
export function parseResourceEvents(body: unknown): readonly ResourceEvent[] {
  return listAt(body, 'items')
    .flatMap((item) => {
      const reason = textAt(item, 'reason')
      return reason === undefined ? [] : [readEvent(item, reason)]
    })
    .toSorted((one, other) => (one.lastMs ?? 0) - (other.lastMs ?? 0))
}

function readEvent(item: unknown, reason: string): ResourceEvent {
  const path = textAt(objectAt(item, 'involvedObject'), 'fieldPath') ?? ''
  return {
    reason,
    message: textAt(item, 'message') ?? '',
    count: numberAt(item, 'count') ?? numberAt(objectAt(item, 'series'), 'count') ?? 1,
    lastMs: lastTimeOf(item),
    container: /\{([a-z0-9-]+)\}$/.exec(path)?.[1],
  }
}

const lastTimeOf = (item: unknown): number | undefined =>
  timeAt(objectAt(item, 'series'), 'lastObservedTime') ?? timeAt(item, 'lastTimestamp') ?? timeAt(item, 'eventTime')
