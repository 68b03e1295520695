import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Requests of one connection that may wait for the answer before them: each is parsed and held in memory. */
const maxWaiting = 16

type Line = { last: Promise<unknown>; waiting: number }

/**
 * A client that sends requests without waiting for the answers gets them one at a time: the next one is not begun before
 * the answer is handed to the system. All at once they would lie in memory, for a reader that may never read. A connection
 * with more than 16 requests that wait is destroyed.
 */
export function answerInOrder(app: FastifyInstance): void {
  const lines = new WeakMap<Socket, Line>()
  app.addHook('onRequest', async ({ raw: { socket } }, reply) => {
    const line = lines.get(socket) ?? { last: Promise.resolve(), waiting: 0 }
    lines.set(socket, line)
    const before = line.last
    line.last = new Promise((resolve) => reply.raw.once('close', resolve))
    line.waiting += 1
    if (line.waiting > maxWaiting + 1) socket.destroy() // the one that is being answered waits for nothing
    reply.raw.once('close', () => {
      line.waiting -= 1
    })
    if (!socket.destroyed) await before
    if (socket.destroyed) reply.hijack() // no one is left to answer
  })
}
