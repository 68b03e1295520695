import type { ListedTask } from '../../contract/task.ts'
import type { TaskEvent } from '../../contract/task-event.ts'

/** An event with the bytes that streams send of it, made once for all of them. */
export type FramedEvent = { readonly event: TaskEvent; readonly frame: Buffer }

/** As `text/event-stream` has it (WHATWG HTML 9.2). */
export function renderEvent(event: TaskEvent, task?: ListedTask): FramedEvent {
  const whole = task === undefined ? event : { ...event, task }
  return { event: whole, frame: Buffer.from(`id: ${event.id}\ndata: ${JSON.stringify(whole)}\n\n`) }
}

/** A message of a kind of its own. It has no `id`, so that it moves no reader's position. */
export const renderNamed = (name: string, json: string): Buffer => Buffer.from(`event: ${name}\ndata: ${json}\n\n`)
