import { decodeRune, encodeRune, type GoString, isValidRune, runeError, runesOf } from './bytes.ts'
import { isPrint } from './unicode.ts'

const namedEscapes = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [12, '\\f'],
  [10, '\\n'],
  [13, '\\r'],
  [9, '\\t'],
  [11, '\\v'],
])

/** Go's strconv.Quote, and QuoteToASCII. */
export function quote(bytes: GoString, asciiOnly = false): GoString {
  let quoted = '"'
  for (const { code, size, at } of runesOf(bytes)) {
    const isInvalid = code === runeError && size === 1
    quoted += isInvalid ? `\\x${hex(bytes.charCodeAt(at), 2)}` : escapeRune(code, '"', asciiOnly)
  }
  return `${quoted}"`
}

/** Go's strconv.QuoteRune, and QuoteRuneToASCII. */
export function quoteRune(code: number, asciiOnly: boolean): GoString {
  return `'${escapeRune(isValidRune(code) ? code : runeError, "'", asciiOnly)}'`
}

/** Go's strconv.CanBackquote. */
export function canBackquote(bytes: GoString): boolean {
  for (const { code, size } of runesOf(bytes)) {
    if (
      size > 1 ? code === 0xfeff : code === runeError || (code < 0x20 && code !== 9) || code === 0x60 || code === 0x7f
    )
      return false
  }
  return true
}

function escapeRune(code: number, delimiter: string, asciiOnly: boolean): GoString {
  if (code === delimiter.charCodeAt(0) || code === 0x5c) return `\\${String.fromCharCode(code)}`
  if ((!asciiOnly || code < 0x80) && isPrint(code)) return encodeRune(code)
  const named = namedEscapes.get(code)
  if (named !== undefined) return named
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

const charByEscape = new Map([...namedEscapes].map(([code, escaped]) => [escaped.charAt(1), code]))
const hexDigits = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])

/** A character of a quoted constant: `byte` of an escape such as \x80, otherwise a rune. */
export type UnquotedChar = { readonly code: number; readonly isByte: boolean; readonly end: number }

/** Go's strconv.UnquoteChar at a position, or undefined where the syntax is invalid. */
export function unquoteChar(bytes: GoString, at: number, delimiter: string): UnquotedChar | undefined {
  const first = bytes.charAt(at)
  if (first === '' || first === delimiter) return undefined
  if (first !== '\\') {
    const { code, size } = decodeRune(bytes, at)
    return { code, isByte: code < 0x80, end: at + size }
  }
  const escaped = bytes.charAt(at + 1)
  const named = charByEscape.get(escaped)
  if (named !== undefined) return { code: named, isByte: true, end: at + 2 }
  if (escaped === '\\' || ((escaped === '"' || escaped === "'") && escaped === delimiter))
    return { code: escaped.charCodeAt(0), isByte: true, end: at + 2 }
  const digits = hexDigits.get(escaped)
  if (digits !== undefined) {
    const text = bytes.slice(at + 2, at + 2 + digits)
    if (text.length < digits || !/^[0-9a-fA-F]+$/.test(text)) return undefined
    const code = Number.parseInt(text, 16)
    return digits === 2 || isValidRune(code) ? { code, isByte: digits === 2, end: at + 2 + digits } : undefined
  }
  const octal = bytes.slice(at + 1, at + 4)
  if (!/^[0-7]{3}$/.test(octal)) return undefined
  const code = Number.parseInt(octal, 8)
  return code > 255 ? undefined : { code, isByte: true, end: at + 4 }
}

/** Go's strconv.Unquote of a string constant as the lexer found it, or undefined where the syntax is invalid. */
export function unquote(quoted: GoString): GoString | undefined {
  if (quoted.startsWith('`')) return quoted.slice(1, -1).replaceAll('\r', '')
  let text = ''
  let at = 1
  while (at < quoted.length - 1) {
    const char = unquoteChar(quoted, at, '"')
    if (char === undefined) return undefined
    text += char.isByte ? String.fromCharCode(char.code) : encodeRune(char.code)
    at = char.end
  }
  return text
}
