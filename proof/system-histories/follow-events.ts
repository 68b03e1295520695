import { setTimeout as delay } from 'node:timers/promises'
import type { TaskEvent } from '../../contract/task-event.ts'
import { type EventReader, readEvents } from '../../test/support/event-reader.ts'
import type { Replica } from '../../test/support/world.ts'

/** Reads the stream of all events for a whole history, at the next replica whenever the one it read from goes away. */
export function followEvents(replicas: readonly Replica[]) {
  const events: TaskEvent[] = []
  let isOver = false
  let reader: EventReader | undefined

  const follow = async () => {
    for (let turn = 0; !isOver; turn += 1) {
      const replica = replicas[turn % replicas.length]
      if (!replica) return
      reader = await openWithin(`${replica.url}/api/v1/events`, events.at(-1)?.id ?? 0)
      if (reader === undefined) await delay(100)
      else {
        await Promise.race([reader.ended, untilSilent(reader)])
        reader.close()
        await reader.ended
        events.push(...reader.events)
      }
    }
  }
  const following = follow()
  return {
    /** All events that came, and ends the reading. */
    async stop(): Promise<readonly TaskEvent[]> {
      isOver = true
      reader?.close()
      await following
      return events
    },
    /** Whether the reader has come to `position`. */
    hasReached: (position: number) => (reader?.events.at(-1)?.id ?? events.at(-1)?.id ?? 0) >= position,
  }
}

async function openWithin(url: string, after: number): Promise<EventReader | undefined> {
  return Promise.race([readEvents(url, { lastEventId: after }).catch(() => undefined), delay(2_000, undefined)])
}

/** A frozen replica does not end its streams; who hears nothing for a while asks somebody else. */
async function untilSilent(reader: EventReader): Promise<void> {
  for (let count = -1; count < reader.events.length; await delay(3_000)) count = reader.events.length
}
