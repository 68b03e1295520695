import { echo } from './error-text.ts'

const json = /^application\/json[ \t]*(?:;[ \t]*(?:charset=(?:utf-8|"utf-8")[ \t]*)?)*$/i

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Says why a request's body cannot be read: only plain JSON in UTF-8 is. Nothing to say of a request without a body. */
export function checkMediaType(headers: Headers): string | undefined {
  const { 'content-type': type, 'content-encoding': encoding } = headers
  if (encoding !== undefined && encoding !== 'identity') {
    return `Content-Encoding ${echo(String(encoding))} is not supported: send the body uncompressed`
  }
  if (type === undefined) {
    return hasBody(headers) ? 'Content-Type is missing: send application/json' : undefined
  }
  return json.test(String(type))
    ? undefined
    : `Content-Type ${echo(String(type))} is not supported: send application/json`
}

function hasBody(headers: Headers): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
