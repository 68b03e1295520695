import { setImmediate as nextTurn } from 'node:timers/promises'
import { repeat } from '../concurrency/repeat.ts'
import type { FramedEvent } from './framed-event.ts'

const readIntervalMs = 1_000
/** Under load many events are read together. */
const minIntervalMs = 20

/** Where a page begins: after an event, in the timeline `of` what is followed. */
export type PageStart<Timeline> = { readonly of: Timeline; readonly after: number }
/** `isFull`: more events may follow it. */
export type EventPage = { readonly events: readonly FramedEvent[]; readonly isFull: boolean }

const noEvents: EventPage = { events: [], isFull: false }

type Follower<Timeline> = {
  readonly of: Timeline
  /** Read up to here, whether or not any of it was for this follower. */
  position: number
  hasNews: boolean
  /** Set while the follower waits for its next page. */
  deliver: ((events: EventPage['events']) => void) | undefined
}

type Reading<Timeline> = {
  /** Pages of one round: a stream that follows live waits for a round at most. */
  readonly maxPages: number
  /** Gives each start some of the events that follow it, in the order of their ids. */
  readonly readPages: (starts: readonly PageStart<Timeline>[]) => Promise<readonly EventPage[]>
  readonly onError: (error: unknown) => void
}

/**
 * Reads pages of events for those who follow timelines: only where there may be new events, only for who waits for a page,
 * and once for all who have read equally far in the same timeline.
 */
export function createEventFollowers<Timeline extends string>({ maxPages, readPages, onError }: Reading<Timeline>) {
  /** Those last that were read for last. */
  const followers = new Set<Follower<Timeline>>()
  /** All events up to this id are visible to a read that begins now. */
  let newest = 0

  const readDue = async () => {
    for (;;) {
      const waiting = [...followers].filter(({ hasNews, deliver }) => hasNews && deliver !== undefined)
      const due = nextPages(groupByPage(waiting), maxPages)
      if (due.length === 0) return
      const readUpTo = newest
      const setNews = (hasNews: boolean) => {
        for (const { group } of due) for (const follower of group) follower.hasNews = hasNews
      }
      setNews(false)
      const pages = await readPages(due.map(({ start }) => start)).catch((error: unknown) => {
        setNews(true)
        throw error
      })
      for (const [at, { group }] of due.entries()) {
        for (const follower of group) turnPage(follower, pages[at] ?? noEvents, readUpTo)
      }
      await nextTurn() // those who have taken their page ask for the next one
    }
  }
  const turnPage = (follower: Follower<Timeline>, { events, isFull }: EventPage, readUpTo: number) => {
    const last = events.at(-1)?.event.id ?? follower.position
    if (followers.delete(follower)) followers.add(follower)
    follower.position = isFull ? last : Math.max(last, readUpTo)
    if (isFull) follower.hasNews = true
    if (events.length === 0) return
    follower.deliver?.(events)
    follower.deliver = undefined
  }
  const reading = repeat(readDue, readIntervalMs, onError, minIntervalMs)

  return {
    count: () => followers.size,
    noteNews(isNews: (timeline: Timeline) => boolean) {
      for (const follower of followers) if (isNews(follower.of)) follower.hasNews = true
      reading.trigger()
    },
    /** `id` is the newest event of all: who has not read so far may have missed a wake-up. */
    noteNewest(id: number) {
      newest = id
      for (const follower of followers) if (follower.position < id) follower.hasNews = true
      reading.trigger()
    },
    /** Yields page after page; each is read when it is asked for, and waited for until there is one or `signal` aborts. */
    async *follow({ of, after }: PageStart<Timeline>, signal: AbortSignal): AsyncGenerator<EventPage['events']> {
      const follower: Follower<Timeline> = { of, position: after, hasNews: true, deliver: undefined }
      const leave = () => follower.deliver?.([])
      followers.add(follower)
      signal.addEventListener('abort', leave)
      try {
        while (!signal.aborted) {
          yield await new Promise<EventPage['events']>((resolve) => {
            follower.deliver = resolve
            if (follower.hasNews) reading.trigger()
          })
        }
      } finally {
        signal.removeEventListener('abort', leave)
        followers.delete(follower)
      }
    },
    [Symbol.asyncDispose]: () => reading[Symbol.asyncDispose](),
  }
}

function groupByPage<Timeline extends string>(followers: readonly Follower<Timeline>[]) {
  const groups = new Map<string, { readonly start: PageStart<Timeline>; readonly group: Follower<Timeline>[] }>()
  for (const follower of followers) {
    const { of, position: after } = follower
    const key = `${of} ${after}`
    const known = groups.get(key)
    if (known) known.group.push(follower)
    else groups.set(key, { start: { of, after }, group: [follower] })
  }
  return [...groups.values()]
}

/** Half of a round is for those who have read furthest, so that many who catch up do not delay who follows live. */
function nextPages<Page extends { readonly start: PageStart<string> }>(pages: readonly Page[], maxPages: number) {
  const furthest = pages.toSorted((one, other) => other.start.after - one.start.after).slice(0, maxPages / 2)
  return [...new Set([...furthest, ...pages])].slice(0, maxPages)
}
