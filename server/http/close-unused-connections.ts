import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

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
