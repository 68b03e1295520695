/** A Go string is bytes: here one character from U+0000 to U+00FF for each of them, so that lengths and columns are Go's. */
export type GoString = string

export const toBytes = (text: string): GoString => Buffer.from(text, 'utf8').toString('latin1')

/** Bytes that are not valid UTF-8 read as U+FFFD. */
export const toText = (bytes: GoString): string => Buffer.from(bytes, 'latin1').toString('utf8')

export type Rune = { readonly code: number; readonly size: number }

export const runeError = 0xfffd
export const maxRune = 0x10ffff

/** The rune at a position; a byte that begins none reads as U+FFFD of size 1. The position is inside the bytes. */
export function decodeRune(bytes: GoString, at: number): Rune {
  const first = bytes.charCodeAt(at)
  if (first < 0x80) return { code: first, size: 1 }
  const size = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1
  if (size === 1 || at + size > bytes.length) return { code: runeError, size: 1 }
  let code = first & (0xff >> (size + 1))
  for (let index = at + 1; index < at + size; index++) {
    const next = bytes.charCodeAt(index)
    if ((next & 0xc0) !== 0x80) return { code: runeError, size: 1 }
    code = (code << 6) | (next & 0x3f)
  }
  const isOverlong = (size === 3 && code < 0x800) || (size === 4 && (code < 0x10000 || code > maxRune))
  return isOverlong || isSurrogate(code) ? { code: runeError, size: 1 } : { code, size }
}

/** The rune that ends before a position. */
export function decodeLastRune(bytes: GoString, end: number): Rune {
  for (let size = Math.min(4, end); size > 1; size--) {
    const rune = decodeRune(bytes, end - size)
    if (rune.size === size) return rune
  }
  const last = bytes.charCodeAt(end - 1)
  return { code: last < 0x80 ? last : runeError, size: 1 }
}

export function* runesOf(bytes: GoString): Generator<Rune & { readonly at: number }> {
  for (let at = 0; at < bytes.length; ) {
    const rune = decodeRune(bytes, at)
    yield { ...rune, at }
    at += rune.size
  }
}

export function countRunes(bytes: GoString): number {
  let count = 0
  for (let at = 0; at < bytes.length; at += decodeRune(bytes, at).size) count++
  return count
}

export const isValidRune = (code: number): boolean => code >= 0 && code <= maxRune && !isSurrogate(code)

export const encodeRune = (code: number): GoString =>
  toBytes(String.fromCodePoint(isValidRune(code) ? code : runeError))

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}
