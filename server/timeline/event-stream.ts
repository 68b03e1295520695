import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** A reader that takes nothing from one `alive` to the next is cut off; it resumes by Last-Event-ID. */
const keepAliveMs = 15_000
/** So is one that has not read what was left by then, once its stream has ended. */
const lastReadMs = 5_000

/**
 * Writes events to one reader as `text/event-stream` (WHATWG HTML 9.2), no faster than it reads, with `event: alive` every
 * 15 s: a page cannot see comments, and must notice that it hears nothing any more: its connection is dead, or not `isCurrent`.
 * It begins with the position, from which a reader goes on whose connection breaks before the first event.
 */
export function openEventStream(
  response: ServerResponse,
  headers: Record<string, string>,
  position: number,
  isCurrent: () => boolean,
) {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const over = new AbortController()
  const write = (text: string | Buffer) => {
    if (!over.signal.aborted && !response.destroyed) response.write(text)
  }
  write(`:\nid: ${position}\n\n`)
  let wasFull = false
  const keepAlive = setInterval(() => {
    if (!response.writableNeedDrain) write(isCurrent() ? 'event: alive\ndata: {}\n\n' : ':\n\n')
    else if (wasFull) response.destroy()
    wasFull = response.writableNeedDrain
  }, keepAliveMs)
  const newest = new Map<string, Buffer>()
  const sendNewest = () => {
    for (const frame of newest.values()) write(frame)
    newest.clear()
  }
  response.on('drain', () => {
    wasFull = false
    sendNewest()
  })
  let cutOff: NodeJS.Timeout | undefined
  const closed = new Promise<void>((resolve) => {
    if (response.closed) resolve()
    else response.once('close', resolve)
  }).then(() => {
    over.abort()
    clearInterval(keepAlive)
    clearTimeout(cutOff)
  })
  return {
    closed,
    /** Aborts when the reader is gone. */
    over: over.signal,
    /** Resolves when the reader has room for more, or is gone. */
    async send(frame: Buffer) {
      write(frame)
      if (response.writableNeedDrain) await once(response, 'drain', { signal: over.signal }).catch(() => undefined)
    },
    /** Sends the newest message of a kind as soon as the reader has room: one that it could not take in time is left out. */
    sendNewest(kind: string, frame: Buffer) {
      newest.set(kind, frame)
      if (!response.writableNeedDrain) sendNewest()
    },
    /** The reader goes on from `position`; what lies before was not for it. */
    moveTo: (position: number) => write(`id: ${position}\n\n`),
    /** The reader's position is not ours: it must reload and continue from `position`. */
    reset: (position: number) => write(`id: ${position}\nevent: reset\ndata: {}\n\n`),
    end() {
      if (over.signal.aborted) return
      over.abort()
      response.end()
      cutOff = setTimeout(() => response.destroy(), lastReadMs)
    },
  }
}
