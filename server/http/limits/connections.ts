import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { networkOf } from './client-address.ts'
import { createClientQuota } from './client-quota.ts'

/** Looking through all connections for each one that is dropped would keep the service busy with nothing else. */
const betweenRoundsMs = 1_000

/** Of all connections, what one address may hold. */
const addressShare = 0.1

/**
 * Drops connections beyond so many, and then closes those on which nothing is asked, so that there is room for who comes back.
 * One address holds at most a tenth of them, unless it is a trusted proxy.
 */
export function limitConnections(
  server: Server,
  maxConnections: number,
  isTrustedProxy: (address: string) => boolean = () => false,
): void {
  const quota = createClientQuota(Math.ceil(maxConnections * addressShare), maxConnections)
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isTrustedProxy(address)) return
    const release = quota.acquire({ address: networkOf(address), weight: 1 })
    if (release === undefined) socket.destroy()
    else socket.once('close', release)
  })
  let nextRoundMs = 0
  server.maxConnections = maxConnections
  server.on('drop', () => {
    if (performance.now() < nextRoundMs) return
    nextRoundMs = performance.now() + betweenRoundsMs
    server.closeIdleConnections()
  })
}

type StallLimits = {
  /** How long a reader may take none of what is sent to it. */
  readonly maxStalledMs: number
  /** What may wait to be sent on all connections together. */
  readonly maxUnsentBytes: number
  readonly intervalMs: number
}

const usualLimits: StallLimits = { maxStalledMs: 30_000, maxUnsentBytes: 64 * 1024 * 1024, intervalMs: 1_000 }

/** `body` is the answer that is being sent, where it comes in pieces. */
type Progress = { takenBytes: number; sinceMs: number; body: Readable | undefined }

/**
 * Closes connections that have bytes to send and whose reader takes none: what waits for it is memory. Where too much waits
 * on all connections together, those that have taken none for longest are closed at once.
 */
export function closeStalledConnections(server: Server, limits: Partial<StallLimits> = {}): void {
  const { maxStalledMs, maxUnsentBytes, intervalMs } = { ...usualLimits, ...limits }
  const progressOf = new Map<Socket, Progress>()
  server.on('connection', (socket: Socket) => {
    progressOf.set(socket, { takenBytes: 0, sinceMs: performance.now(), body: undefined })
    socket.once('close', () => progressOf.delete(socket))
  })
  server.prependListener('request', ({ socket }, response) => {
    const progress = progressOf.get(socket)
    response.once('pipe', (body) => progress && Object.assign(progress, { body }))
  })

  const closeStalled = () => {
    const nowMs = performance.now()
    let unsentBytes = 0
    for (const [socket, progress] of progressOf) {
      const takenBytes = socket.bytesWritten - socket.writableLength
      const waitingBytes = waitingBytesOf(socket, progress)
      if (waitingBytes === 0 || takenBytes !== progress.takenBytes)
        Object.assign(progress, { takenBytes, sinceMs: nowMs })
      if (nowMs - progress.sinceMs >= maxStalledMs) socket.destroy()
      else unsentBytes += waitingBytes
    }
    if (unsentBytes <= maxUnsentBytes) return
    const longestFirst = [...progressOf].sort(([, one], [, other]) => one.sinceMs - other.sinceMs)
    for (const [socket, progress] of longestFirst) {
      if (unsentBytes <= maxUnsentBytes) return
      const waitingBytes = waitingBytesOf(socket, progress)
      unsentBytes -= waitingBytes
      if (waitingBytes > 0) socket.destroy()
    }
  }
  const timer = setInterval(closeStalled, intervalMs).unref()
  server.once('close', () => clearInterval(timer))
}

const waitingBytesOf = (socket: Socket, { body }: Progress): number =>
  socket.writableLength + (body?.readableLength ?? 0)

/**
 * Drops the requests of a destroyed connection before any listener that is there now sees them: Node parses the rest of what
 * came in one piece, which may be thousands of requests.
 */
export function dropDestroyedConnections(server: Server): void {
  const listeners = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.socket.destroyed) return request.destroy()
    for (const listener of listeners) listener.call(server, request, response)
  })
}

/** How long what is written already may take to be sent. */
const sendingMs = 10_000

/**
 * Node's server waits at its close for connections on which no request has come yet, such as those that browsers open in
 * advance, and no longer applies a time limit to them. It also keeps a connection for another request whose answer was
 * under way when the close began, and cuts one off whose answer is written and not yet sent.
 * @returns closes those that are open now and unused, and waits for what is written already; later ones are closed as they
 *   come, used ones after their answer
 */
export function closeUnusedConnections(server: Server): () => Promise<void> {
  const unused = new Set<Socket>()
  const answering = new Set<ServerResponse>()
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy()
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    unused.delete(socket)
    answering.add(response)
    response.once('close', () => answering.delete(response))
    response.once('finish', () => isClosing && socket.destroySoon())
  })
  return async () => {
    isClosing = true
    for (const socket of unused) socket.destroy()
    const written = [...answering].filter(({ writableEnded }) => writableEnded)
    const sent = written.map((response) => once(response, 'close'))
    await Promise.race([Promise.all(sent), delay(sendingMs, undefined, { ref: false })])
  }
}
