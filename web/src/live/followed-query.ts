import { type QueryClient, type QueryKey, type QueryState, queryOptions } from '@tanstack/react-query'
import type { TaskEvent } from '../../../contract/task-event.ts'
import type { LiveConnection } from './live-connection.ts'

/** An answer that the events of tasks keep up to date. */
export type Followed<Answer> = {
  readonly queryKey: QueryKey
  readonly read: (signal: AbortSignal) => Promise<Answer>
  /** Returns the answer itself where no event changes it. */
  readonly apply: (answer: Answer, events: readonly TaskEvent[]) => Answer
  /** What events do not tell is read so often. */
  readonly readAgainMs?: number | ((answer: Answer | undefined) => number | false)
}

/** Applies what happened while it was read: the answer may be older than an event that came before it. */
export function followedQuery<Answer>(connection: LiveConnection, followed: Followed<Answer>) {
  const { queryKey, read, apply, readAgainMs = false } = followed
  return queryOptions<Answer>({
    queryKey,
    queryFn: async ({ signal }) => {
      const meanwhile: TaskEvent[] = []
      const stop = connection.on('tasks', (events) => void meanwhile.push(...events))
      try {
        return apply(await read(signal), meanwhile)
      } finally {
        stop()
      }
    },
    refetchInterval: ({ state }) => {
      const everyMs = typeof readAgainMs === 'function' ? readAgainMs(state.data) : readAgainMs
      return everyMs === false ? false : msUntilRead(state, everyMs, Date.now())
    },
  })
}

type ReadTimes = Pick<QueryState, 'fetchStatus' | 'dataUpdatedAt' | 'errorUpdatedAt'>

/** Each event would otherwise restart the pause, and where many come nothing would be read again. */
function msUntilRead({ fetchStatus, dataUpdatedAt, errorUpdatedAt }: ReadTimes, everyMs: number, nowMs: number) {
  if (fetchStatus === 'fetching') return everyMs
  return Math.max(1, Math.max(dataUpdatedAt, errorUpdatedAt) + everyMs - nowMs)
}

/** An event is no read: when the answer was read last stays. */
export function applyToQuery<Answer>(
  client: QueryClient,
  { queryKey, apply }: Followed<Answer>,
  events: readonly TaskEvent[],
) {
  const updatedAt = client.getQueryState(queryKey)?.dataUpdatedAt ?? 0
  const update = (known: Answer | undefined) => {
    const newer = known && apply(known, events)
    return newer === known ? undefined : newer // else a read that failed would count as a good one
  }
  client.setQueryData<Answer>(queryKey, update, { updatedAt })
}
