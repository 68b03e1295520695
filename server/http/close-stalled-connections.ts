import type { Server } from 'node:http'
import type { Socket } from 'node:net'

type StallLimits = {
  /** How long a reader may take none of what is sent to it. */
  readonly maxStalledMs: number
  /** What may wait to be sent on all connections together. */
  readonly maxUnsentBytes: number
  readonly intervalMs: number
}

const usualLimits: StallLimits = { maxStalledMs: 30_000, maxUnsentBytes: 64 * 1024 * 1024, intervalMs: 1_000 }

/** Node shows whole writes only: how much of one the system has taken, its handle knows. */
type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number }

/**
 * Closes connections that have bytes to send and whose reader takes none: what waits for it is memory. Where too much waits
 * on all connections together, those that have taken none for longest are closed at once.
 */
export function closeStalledConnections(server: Server, limits: Partial<StallLimits> = {}): void {
  const { maxStalledMs, maxUnsentBytes, intervalMs } = { ...usualLimits, ...limits }
  const progressOf = new Map<Socket, { takenBytes: number; sinceMs: number }>()
  server.on('connection', (socket: Socket) => {
    progressOf.set(socket, { takenBytes: 0, sinceMs: performance.now() })
    socket.once('close', () => progressOf.delete(socket))
  })

  const closeStalled = () => {
    const nowMs = performance.now()
    let unsentBytes = 0
    for (const [socket, progress] of progressOf) {
      const takenBytes = takenBytesOf(socket)
      if (socket.writableLength === 0 || takenBytes !== progress.takenBytes)
        Object.assign(progress, { takenBytes, sinceMs: nowMs })
      if (nowMs - progress.sinceMs >= maxStalledMs) socket.destroy()
      else unsentBytes += socket.writableLength
    }
    if (unsentBytes <= maxUnsentBytes) return
    const longestFirst = [...progressOf].sort(([, one], [, other]) => one.sinceMs - other.sinceMs)
    for (const [socket] of longestFirst) {
      if (unsentBytes <= maxUnsentBytes) return
      unsentBytes -= socket.writableLength
      if (socket.writableLength > 0) socket.destroy()
    }
  }
  const timer = setInterval(closeStalled, intervalMs).unref()
  server.once('close', () => clearInterval(timer))
}

function takenBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}
