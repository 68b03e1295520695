import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Node's server waits at its close for connections on which no request has come yet, such as those that browsers open in
 * advance, and no longer applies a time limit to them. It also keeps a connection for another request whose answer was
 * under way when the close began.
 * @returns closes those that are open now and unused; later ones are closed as they come, used ones after their answer
 */
export function closeUnusedConnections(server: Server): () => void {
  const unused = new Set<Socket>()
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy()
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    unused.delete(socket)
    response.once('finish', () => isClosing && socket.destroySoon())
  })
  return () => {
    isClosing = true
    for (const socket of unused) socket.destroy()
  }
}
