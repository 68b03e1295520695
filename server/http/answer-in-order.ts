import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * A client that sends requests without waiting for the answers gets them one at a time: the next one is not begun before
 * the answer is handed to the system. All at once they would lie in memory, for a reader that may never read.
 */
export function answerInOrder(app: FastifyInstance): void {
  const answered = new WeakMap<Socket, Promise<unknown>>()
  app.addHook('onRequest', async ({ raw: { socket } }, reply) => {
    const before = answered.get(socket)
    answered.set(socket, new Promise((resolve) => reply.raw.once('close', resolve)))
    await before
    if (socket.destroyed) reply.hijack() // nobody is left to answer
  })
}
