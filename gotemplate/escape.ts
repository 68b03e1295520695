import { decodeRune, encodeRune, type GoString } from './bytes.ts'
import { isPrint } from './unicode.ts'

const htmlEscapes = new Map([
  ['\0', encodeRune(0xfffd)],
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
])

/** Go's template.HTMLEscapeString. */
export const escapeHtml = (bytes: GoString): GoString =>
  bytes.replace(/[\0"'&<>]/g, (char) => htmlEscapes.get(char) ?? char)

const jsEscapes = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['"', '\\"'],
  ['<', '\\u003C'],
  ['>', '\\u003E'],
  ['&', '\\u0026'],
  ['=', '\\u003D'],
])

/** Go's template.JSEscapeString. */
export function escapeJs(bytes: GoString): GoString {
  let escaped = ''
  for (let at = 0; at < bytes.length; ) {
    const char = bytes.charAt(at)
    const { code, size } = decodeRune(bytes, at)
    const isKept = code >= 0x80 ? isPrint(code) : code >= 0x20
    escaped += jsEscapes.get(char) ?? (isKept ? bytes.slice(at, at + size) : `\\u${hex(code, 4)}`)
    at += size
  }
  return escaped
}

/** Go's url.QueryEscape. */
export const escapeQuery = (bytes: GoString): GoString =>
  bytes.replace(/[^A-Za-z0-9_.~-]/g, (char) => (char === ' ' ? '+' : `%${hex(char.charCodeAt(0), 2)}`))

const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0')
