import { InvalidJsonError, parseStrictJson } from './strict-json.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a request body. An empty one is undefined; whether that will do, the route's schema says. */
export function parseJsonBody(body: Buffer): unknown {
  return body.length === 0 ? undefined : parseStrictJson(decode(body))
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new InvalidJsonError('body is not valid JSON: it must be UTF-8', { cause })
  }
}
