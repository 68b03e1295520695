import { parse } from 'secure-json-parse'
import { echo } from './error-text.ts'

/** A text that is not JSON as we take it. The message says why, and where if that is known; it is shown to the caller. */
export class InvalidJsonError extends Error {
  override readonly name = 'InvalidJsonError'
}

const maxDepth = 32
const maxEntries = 10_000
const maxDetailLength = 120
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a request body (decision 0001). An empty one is undefined; whether that will do, the route's schema says.
 * @throws {InvalidJsonError}
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  const text = decode(body)
  if (text.startsWith('\ufeff')) throw invalid('a byte order mark is not allowed (line 1 column 1)')
  checkSize(text)
  try {
    return parse(text, { protoAction: 'remove', constructorAction: 'remove' })
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : 'it cannot be parsed'
    throw invalid(echo(detail, maxDetailLength), cause)
  }
}

const invalid = (rule: string, cause?: unknown) => new InvalidJsonError(`body is not valid JSON: ${rule}`, { cause })

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw invalid('must be UTF-8', cause)
  }
}

/** A short text may hold more objects than the event loop should make: every entry but the first of its parent has a comma. */
function checkSize(text: string): void {
  let depth = 0
  let entries = 0
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (sign === '"') at = endOfString(text, at)
    else if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || sign === ']') depth -= 1
    else if (sign === ',') entries += 1
    if (depth > maxDepth) throw invalid(`nested deeper than ${maxDepth} levels`)
    if (entries >= maxEntries) throw invalid(`more than ${maxEntries} keys and array items`)
  }
}

/** The index of the closing quote, or the end of a text that lacks it. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at
  }
  return text.length
}
