import type { ServerResponse } from 'node:http'
import type { TaskEvent } from '../../contract/task-event.ts'

const keepAliveMs = 15_000
/** A reader that lets this much pile up is cut off; it resumes by Last-Event-ID. */
const mostUnreadBytes = 1_048_576
/** So is one that has not read what was left by then, once its stream has ended. */
const lastReadMs = 5_000

/**
 * Writes events to one reader as `text/event-stream` (WHATWG HTML 9.2), with a comment every 15 s. It begins with the
 * position, from which a reader goes on whose connection breaks before the first event.
 */
export function openEventStream(response: ServerResponse, headers: Record<string, string>, position: number) {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const isOver = () => response.writableEnded || response.destroyed
  const write = (text: string) => {
    if (isOver()) return
    if (response.writableLength > mostUnreadBytes) response.destroy()
    else response.write(text)
  }
  write(`:\nid: ${position}\n\n`)
  const keepAlive = setInterval(() => write(':\n\n'), keepAliveMs)
  let cutOff: NodeJS.Timeout | undefined
  const closed = new Promise<void>((resolve) => {
    if (response.closed) resolve()
    else response.once('close', resolve)
  })
  return {
    closed: closed.then(() => {
      clearInterval(keepAlive)
      clearTimeout(cutOff)
    }),
    /** Nobody reads what would be sent now. */
    isOver,
    send: (event: TaskEvent) => write(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`),
    /** The reader's position is not ours: it must load anew and go on from `position`. */
    reset: (position: number) => write(`id: ${position}\nevent: reset\ndata: {}\n\n`),
    end() {
      if (isOver()) return
      response.end()
      cutOff = setTimeout(() => response.destroy(), lastReadMs)
    },
  }
}
