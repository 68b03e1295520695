import type { IncomingMessage } from 'node:http'
import { HttpError } from './request-errors.ts'

/** What the bodies of all requests that are being received may take together. */
const maxBytes = 64 * 1024 * 1024
/** Of that, what one address may take. */
const addressShare = 0.25

type Sender = {
  readonly address: string
  /** Of the route. */
  readonly maxBytes: number
}

type ReadBody = <Value>(payload: IncomingMessage, sender: Sender, use: (body: Buffer) => Value) => Promise<Value>

/**
 * Reads request bodies. Those under way have a limit together, and for each address, counted by the bytes that were received
 * and not by those that were announced: a body counts until `use` is done with it.
 */
export function createReadBody(limitBytes = maxBytes): ReadBody {
  const receivedFrom = new Map<string, number>()
  let received = 0

  const count = (address: string, bytes: number) => {
    received += bytes
    const own = (receivedFrom.get(address) ?? 0) + bytes
    if (own > 0) receivedFrom.set(address, own)
    else receivedFrom.delete(address)
    return own
  }

  return async (payload, { address, maxBytes }, use) => {
    const chunks: Buffer[] = []
    let bytes = 0
    try {
      if (Number(payload.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
      // A body that is refused is left unread, and its connection open for the answer.
      for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length
        const own = count(address, chunk.length)
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        if (own > limitBytes * addressShare) throw tooManyBytes(429, 'from one address')
        if (received > limitBytes) throw tooManyBytes(503, 'together')
        chunks.push(chunk)
      }
      return use(Buffer.concat(chunks))
    } finally {
      count(address, -bytes)
    }
  }
}

const tooLarge = (limit: number) => new HttpError(413, `body: must be at most ${renderBytes(limit)}`)

const renderBytes = (bytes: number) => (bytes < 1_048_576 ? `${bytes / 1_024} KiB` : `${bytes / 1_048_576} MiB`)

/** By then the bodies under way have come, or run out of their time. */
const retrySeconds = 10
const tooManyBytes = (status: 429 | 503, whose: string) =>
  new HttpError(status, `too many bytes of request bodies are being received ${whose}`, {
    'Retry-After': String(retrySeconds),
  })
