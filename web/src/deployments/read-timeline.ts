import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import type { TaskEvent, TaskEvents } from '../../../contract/task-event.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import { readAndFollow } from '../live/read-and-follow.ts'
import { Live, useLiveEvents } from '../live/use-live.ts'
import { readJson } from '../ui/read-json.ts'

type Timeline = readonly TaskEvent[]

/** GET /api/v1/tasks/<id>/events, all pages of it. */
function timelineQuery(connection: LiveConnection, id: string) {
  const read = async (signal: AbortSignal): Promise<Timeline> => {
    const events: TaskEvent[] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const path = `/api/v1/tasks/${encodeURIComponent(id)}/events?after=${after}`
      const page: TaskEvents = await readJson(path, signal)
      events.push(...page.events)
      after = page.next_after
    }
    return events
  }
  return queryOptions<Timeline>({
    queryKey: ['tasks', 'timeline', id],
    queryFn: ({ signal }) =>
      readAndFollow(
        connection,
        () => read(signal),
        (known, events) => follow(known, eventsOf(id, events)),
      ),
  })
}

/** The events of a task, oldest first, kept up to date. */
export function useTimeline(id: string) {
  const [connection, client] = [use(Live), useQueryClient()]
  const options = timelineQuery(connection, id)
  useLiveEvents('tasks', (events) => {
    const own = eventsOf(id, events)
    if (own.length > 0) client.setQueryData(options.queryKey, (known) => known && follow(known, own))
  })
  return useQuery(options)
}

const eventsOf = (task: string, events: Timeline) => events.filter(({ task_id }) => task_id === task)

/** Adds what is newer than what is known. */
function follow(known: Timeline, events: Timeline): Timeline {
  const last = known.at(-1)?.id ?? 0
  return [...known, ...events.filter(({ id }) => id > last)]
}
