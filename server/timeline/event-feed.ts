import type { ListedTask } from '../../contract/task.ts'
import { repeat } from '../concurrency/repeat.ts'
import type { WakeUps } from '../ownership/wake-ups.ts'
import { createEventFollowers, type EventPage } from './event-followers.ts'
import type { EventStore } from './event-store.ts'
import { type FramedEvent, renderEvent } from './framed-event.ts'

const intervalMs = 1_000
/** Without an answer of the database for so long, events may be missing. */
const maxBehindMs = 5_000
/** Under load many events are numbered together. */
const minIntervalMs = 50
/** Also what a follower holds at most, of which the first event may be larger. */
const pageSize = 200
const pageBytes = 256 * 1024

type Dependencies = {
  readonly events: EventStore
  /** Tasks as lists show them, by id; one that is gone is absent. */
  readonly readTasks: (ids: readonly string[]) => Promise<ReadonlyMap<string, ListedTask>>
  readonly wakeUps: Pick<WakeUps, 'on' | 'send'>
  readonly onError: (message: string, error: unknown) => void
}

/** Numbers the events that this replica commits, and lets its streams follow all events or those of one task. */
export function createEventFeed({ events, readTasks, wakeUps, onError }: Dependencies) {
  const followersOfTasks = createEventFollowers<string>({
    maxPages: 100, // in one statement
    async readPages(starts) {
      const pages = await events.pagesOfTasks(starts, pageSize)
      return pages.map((page) => pageOf(page.map((event) => renderEvent(event))))
    },
    onError: (error) => onError('reading events of tasks failed, retrying', error),
  })
  // Apart, so that a task's stream does not wait while others catch up with all events.
  const followersOfAll = createEventFollowers<'all'>({
    maxPages: 10, // one after another
    async readPages(starts) {
      const pages = []
      for (const { after } of starts) {
        const page = await events.after(after, pageSize)
        const tasks = page.length === 0 ? noTasks : await readTasks([...new Set(page.map((event) => event.task_id))])
        pages.push(pageOf(page.map((event) => renderEvent(event, tasks.get(event.task_id)))))
      }
      return pages
    },
    onError: (error) => onError('reading events failed, retrying', error),
  })
  const unsubscribe = wakeUps.on('event', (ids) => {
    const taskIds = ids === 'all' ? undefined : new Set(ids)
    followersOfTasks.noteNews((taskId) => taskIds?.has(taskId) ?? true)
    followersOfAll.noteNews(() => true)
  })
  let noticedMs = Number.NEGATIVE_INFINITY
  const noticeMissed = async () => {
    if (followersOfTasks.count() + followersOfAll.count() === 0) return
    const newest = await events.newest()
    noticedMs = performance.now()
    followersOfTasks.noteNewest(newest)
    followersOfAll.noteNewest(newest)
  }
  const noticing = repeat(noticeMissed, intervalMs, (error) =>
    onError('reading the newest event id failed, retrying', error),
  )

  const number = async () => {
    for (let isAll = false; !isAll; ) {
      const numbered = await events.number()
      for (const id of numbered.taskIds) wakeUps.send('event', id)
      isAll = numbered.isAll
    }
  }
  const numbering = repeat(
    number,
    intervalMs,
    (error) => onError('numbering events failed, retrying', error),
    minIntervalMs,
  )

  return {
    /** Call after a commit that wrote events. */
    written: () => numbering.trigger(),

    /**
     * Yields pages of the events after `after` in the order of their ids, none missing and none twice; of one task, where
     * `taskId` is given. Ends when `signal` aborts.
     */
    follow: (after: number, taskId: string | undefined, signal: AbortSignal) =>
      taskId === undefined
        ? followersOfAll.follow({ of: 'all', after }, signal)
        : followersOfTasks.follow({ of: taskId, after }, signal),

    /** Whether who follows hears what happens: not while the database does not answer. */
    isCurrent: () => performance.now() - noticedMs < maxBehindMs,

    async [Symbol.asyncDispose]() {
      unsubscribe()
      for (const work of [noticing, numbering, followersOfTasks, followersOfAll]) await work[Symbol.asyncDispose]()
    },
  }
}
export type EventFeed = ReturnType<typeof createEventFeed>

const noTasks: ReadonlyMap<string, ListedTask> = new Map()

/** What of `events`, at most `pageSize`, fits into a page. */
function pageOf(events: readonly FramedEvent[]): EventPage {
  let bytes = 0
  const cut = events.findIndex(({ frame }, at) => {
    bytes += frame.length
    return at > 0 && bytes > pageBytes
  })
  return cut === -1 ? { events, isFull: events.length === pageSize } : { events: events.slice(0, cut), isFull: true }
}
