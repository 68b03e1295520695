import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

const pieceBytes = 64 * 1024

/**
 * Sends a large answer in pieces of 64 KiB, each after the reader has taken the one before. A socket shows only whole writes
 * as sent: in one piece a slow reader could not be told from one that reads nothing.
 */
export function answerInPieces(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length <= pieceBytes) return payload
    const bytes = Buffer.from(payload)
    reply.header('Content-Length', bytes.length)
    return inPieces(bytes)
  })
}

/** Its `readableLength` is what was not sent yet. */
export function inPieces(bytes: Buffer): Readable {
  const pieces = new Readable({ read: () => undefined })
  for (let from = 0; from < bytes.length; from += pieceBytes) pieces.push(bytes.subarray(from, from + pieceBytes))
  pieces.push(null)
  return pieces
}
