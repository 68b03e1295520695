import type { IncomingMessage } from 'node:http'
import { HttpError } from '../request-errors.ts'

/** What the bodies of all requests that are being received may take together. */
const maxBytesTogether = 64 * 1024 * 1024
/** Of that, what one address may take. */
const addressShare = 0.25

type Sender = {
  readonly address: string
  /** Of the route. */
  readonly maxBytes: number
}

type ReadBody = <Value>(payload: IncomingMessage, sender: Sender, use: (body: Buffer) => Value) => Promise<Value>

type Body = {
  readonly address: string
  readonly chunks: Buffer[]
  bytes: number
  /** What is left of it is read and thrown away, so that the answer arrives. */
  readonly reject: (error: Error) => void
}

/**
 * Reads request bodies. Those under way have a limit together, and for each address, counted by the bytes that were received
 * and not by those that were announced. Beyond it the largest is rejected, so that a small one gets through.
 */
export function createReadBody(limitBytes = maxBytesTogether): ReadBody {
  const underWay = new Set<Body>()

  const makeRoom = (address: string): void => {
    const own = [...underWay].filter((body) => body.address === address)
    if (sizeOf(own) > limitBytes * addressShare) largestOf(own)?.reject(tooManyBytes(429, 'from one address'))
    else if (sizeOf(underWay) > limitBytes) largestOf(underWay)?.reject(tooManyBytes(503, 'together'))
  }

  const receive = (payload: IncomingMessage, { address, maxBytes }: Sender): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const leave = () => {
      underWay.delete(body)
      payload.off('data', onData)
    }
    const body: Body = {
      address,
      chunks: [],
      bytes: 0,
      reject(error) {
        leave()
        payload.resume()
        reject(error)
      },
    }
    const onData = (chunk: Buffer) => {
      body.bytes += chunk.length
      body.chunks.push(chunk)
      if (body.bytes > maxBytes) body.reject(tooLarge(maxBytes))
      else makeRoom(address)
    }
    underWay.add(body)
    payload.on('data', onData)
    payload.once('end', () => {
      leave()
      resolve(Buffer.concat(body.chunks))
    })
    payload.once('error', body.reject)
    if (Number(payload.headers['content-length'] ?? 0) > maxBytes) body.reject(tooLarge(maxBytes))
    return promise
  }

  return async (payload, sender, use) => use(await receive(payload, sender))
}

const sizeOf = (bodies: Iterable<Body>): number => {
  let bytes = 0
  for (const body of bodies) bytes += body.bytes
  return bytes
}

function largestOf(bodies: Iterable<Body>): Body | undefined {
  let largest: Body | undefined
  for (const body of bodies) if (body.bytes > (largest?.bytes ?? 0)) largest = body
  return largest
}

const tooLarge = (limit: number) => new HttpError(413, `body: must be at most ${renderBytes(limit)}`)

const renderBytes = (bytes: number) => (bytes < 1_048_576 ? `${bytes / 1_024} KiB` : `${bytes / 1_048_576} MiB`)

/** By then the bodies under way have come, or run out of their time. */
const retrySeconds = 10
const tooManyBytes = (status: 429 | 503, whose: string) =>
  new HttpError(status, `too many bytes of request bodies are being received ${whose}`, {
    'Retry-After': String(retrySeconds),
  })
