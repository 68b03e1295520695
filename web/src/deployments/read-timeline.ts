import type { TaskEvent, TaskEvents } from '../../../contract/task-event.ts'
import { useFollowedQuery } from '../live/use-followed-query.ts'
import { readJson } from '../ui/read-json.ts'

type Timeline = readonly TaskEvent[]

/** GET /api/v1/tasks/<id>/events, all pages of it: the events of a task, oldest first, kept up to date. */
export const useTimeline = (id: string) =>
  useFollowedQuery<Timeline>({
    queryKey: ['tasks', 'timeline', id],
    read: async (signal) => {
      const events: TaskEvent[] = []
      for (let after: number | undefined = 0; after !== undefined; ) {
        const path = `/api/v1/tasks/${encodeURIComponent(id)}/events?after=${after}`
        const page: TaskEvents = await readJson(path, signal)
        events.push(...page.events)
        after = page.next_after
      }
      return events
    },
    apply: (known, events) => {
      const last = known.at(-1)?.id ?? 0
      const newer = events.filter((event) => event.task_id === id && event.id > last)
      return newer.length === 0 ? known : [...known, ...newer]
    },
  })
