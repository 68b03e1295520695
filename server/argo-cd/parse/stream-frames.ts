import type { ObservedApplication } from '../../rollout/observed/observed-application.ts'
import { parseApplication } from './parse-application.ts'
import { hasObject, largeJsonBytes, objectAt, parseJson, textAt } from './untrusted-json.ts'

/** What one line of the application stream says. */
export type StreamFrame =
  | { readonly kind: 'keepalive' }
  | { readonly kind: 'seen' | 'deleted'; readonly application: ObservedApplication }
  /** The stream ends after it. */
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'unreadable' }
  /** To be parsed elsewhere, which takes its time. */
  | { readonly kind: 'large'; readonly line: Uint8Array }

/** Larger than any application can be in Kubernetes. */
const maxLineBytes = 16 * 1024 * 1024

/**
 * Cuts the bytes of a stream into frames, whatever the pieces they arrive in. Reads server-sent events and the framing without
 * them, one JSON value a line; a line that is too long is unreadable, and reading goes on after it.
 */
export function createFrameReader() {
  let pieces: Uint8Array[] = []
  let length = 0
  let isTooLong = false

  const endLine = (): StreamFrame | undefined => {
    const line = isTooLong ? undefined : Buffer.concat(pieces)
    pieces = []
    length = 0
    isTooLong = false
    if (line === undefined) return { kind: 'unreadable' }
    return line.byteLength > largeJsonBytes ? { kind: 'large', line } : parseLine(new TextDecoder().decode(line))
  }
  const keep = (piece: Uint8Array) => {
    length += piece.byteLength
    isTooLong ||= length > maxLineBytes
    if (isTooLong) pieces = []
    else if (piece.byteLength > 0) pieces.push(piece)
  }

  return {
    *push(bytes: Uint8Array): Generator<StreamFrame> {
      let from = 0
      for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
        keep(bytes.subarray(from, end))
        from = end + 1
        const frame = endLine()
        if (frame !== undefined) yield frame
      }
      keep(bytes.slice(from))
    },
    /** A last error of the framing without events comes without a newline. */
    *end(): Generator<StreamFrame> {
      const frame = endLine()
      if (frame !== undefined) yield frame
    },
  }
}

const newline = 10

export function parseLine(line: string): StreamFrame | undefined {
  const text = line.trim()
  if (text === '') return undefined
  if (text.startsWith(':')) return { kind: 'keepalive' }
  return parseFrame(parseJson(text.startsWith('data:') ? text.slice('data:'.length) : text))
}

function parseFrame(frame: unknown): StreamFrame {
  const error = objectAt(frame, 'error')
  if (hasObject(frame, 'error')) return { kind: 'error', message: textAt(error, 'message') ?? 'no message' }
  const flat = textAt(frame, 'message') ?? textAt(frame, 'error')
  if (flat !== undefined) return { kind: 'error', message: flat }
  const application = parseApplication(objectAt(objectAt(frame, 'result'), 'application'))
  if (application === undefined) return { kind: 'unreadable' }
  return { kind: textAt(objectAt(frame, 'result'), 'type') === 'DELETED' ? 'deleted' : 'seen', application }
}
