import { type QueryKey, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import type { TaskEvent } from '../../../contract/task-event.ts'
import type { LiveConnection } from './live-connection.ts'
import { Live, useLiveEvents } from './use-live.ts'

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
    refetchInterval: typeof readAgainMs === 'function' ? ({ state }) => readAgainMs(state.data) : readAgainMs,
  })
}

export function useFollowedQuery<Answer>(followed: Followed<Answer>) {
  const [connection, client] = [use(Live), useQueryClient()]
  useLiveEvents('tasks', (events) =>
    client.setQueryData<Answer>(followed.queryKey, (known) => {
      const newer = known && followed.apply(known, events)
      return newer === known ? undefined : newer // else a read that failed would count as a good one
    }),
  )
  return useQuery(followedQuery(connection, followed))
}
