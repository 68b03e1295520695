import type { TaskEvent } from '../../contract/task-event.ts'
import { repeat } from '../ownership/repeat.ts'
import type { WakeUps } from '../ownership/wake-ups.ts'
import type { EventStore } from './event-store.ts'

const lookIntervalMs = 1_000
const pageSize = 1_000
/** Under load many events are numbered, and read, together. */
const restMs = 20

type Dependencies = {
  readonly events: EventStore
  readonly wakeUps: WakeUps
  readonly onTrouble: (error: unknown) => void
}

/**
 * Follows the events of all tasks on one replica: numbers what was committed and, while somebody listens, reads each event
 * once and hands it to every listener, in the order of the ids.
 */
export function createEventFeed({ events, wakeUps, onTrouble }: Dependencies) {
  const listeners = new Set<(event: TaskEvent) => void>()
  let position: number | undefined
  const start = async (): Promise<number> => {
    const newest = position ?? (await events.newest())
    position ??= newest // whoever asked first has set it meanwhile
    return position
  }

  const read = async () => {
    if (listeners.size === 0) {
      position = undefined // whoever comes next begins with what is newest then
      return
    }
    position = await start()
    for (;;) {
      const page = await events.after(position, pageSize)
      for (const event of page) {
        position = event.id
        for (const listener of listeners) listener(event)
      }
      if (page.length < pageSize) return
    }
  }
  const reading = repeat(read, lookIntervalMs, onTrouble, restMs)

  const number = async () => {
    for (let isAll = false; !isAll; ) {
      const numbered = await events.number()
      for (const id of numbered.taskIds) wakeUps.send('event', id)
      isAll = numbered.isAll
    }
  }
  const numbering = repeat(number, lookIntervalMs, onTrouble, restMs)
  const unsubscribe = wakeUps.on('event', () => reading.nudge())

  return {
    /** Call after a commit that wrote events. */
    written: () => numbering.nudge(),

    /**
     * Calls `listener` with every event after `after`, none missing and none twice; of one task, where `taskId` is given.
     * What came before is read page by page, unless `isOver` says that nobody listens any more.
     * @returns how to stop; rejects when the earlier events cannot be read
     */
    async follow(
      after: number,
      taskId: string | undefined,
      listener: (event: TaskEvent) => void,
      isOver: () => boolean = () => false,
    ): Promise<() => void> {
      let sent = after
      const send = (event: TaskEvent) => {
        if (event.id <= sent || (taskId !== undefined && event.task_id !== taskId)) return
        sent = event.id
        listener(event)
      }
      // What is read for all from here on is kept; what came before is read below.
      const meanwhile: TaskEvent[] = []
      const keep = (event: TaskEvent) => void meanwhile.push(event)
      listeners.add(keep)
      try {
        await start()
        for (
          let page = await events.after(sent, pageSize);
          page.length > 0 && !isOver();
          page = await events.after(sent, pageSize)
        ) {
          page.forEach(send)
        }
        meanwhile.forEach(send)
        listeners.add(send)
        return () => void listeners.delete(send)
      } finally {
        listeners.delete(keep)
      }
    },

    async [Symbol.asyncDispose]() {
      unsubscribe()
      await numbering[Symbol.asyncDispose]()
      await reading[Symbol.asyncDispose]()
    },
  }
}
export type EventFeed = ReturnType<typeof createEventFeed>
