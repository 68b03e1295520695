import type { GoString } from './bytes.ts'
import { quote, unquoteChar } from './quote.ts'

export type Complex = { readonly re: number; readonly im: number }

/** A number constant, under every type that holds it: an untyped constant of Go. */
export type NumberConstant = {
  readonly int?: bigint
  /** Above what an int64 holds. */
  readonly uint?: bigint
  readonly float?: number
  readonly complex?: Complex
}

export type ParsedNumber = NumberConstant | { readonly error: string }

/** A constant such as 'a', '\n'. */
export function parseCharConstant(text: GoString): ParsedNumber {
  const char = unquoteChar(text, 1, "'")
  if (char === undefined) return { error: 'invalid syntax' }
  if (text.slice(char.end) !== "'") return { error: `malformed character constant: ${text}` }
  return { int: BigInt(char.code), float: char.code }
}

export function parseNumber(text: GoString): ParsedNumber {
  if (text.endsWith('i')) {
    const imaginary = readFloat(text.slice(0, -1))
    if (imaginary !== undefined) return { complex: { re: 0, im: imaginary } }
  }
  const integer = parseInteger(text)
  if (integer !== undefined && integer >= -(2n ** 63n) && integer < 2n ** 63n)
    return { int: integer, float: Number(integer) }
  if (integer !== undefined && integer >= 2n ** 63n && integer < 2n ** 64n && /^\d/.test(text))
    return { uint: integer, float: Number(integer) }
  const float = readFloat(text)
  if (float === undefined) return { error: `illegal number syntax: ${quote(text)}` }
  if (!/[.eEpP]/.test(text)) return { error: `integer overflow: ${quote(text)}` }
  return { float }
}

/** A constant such as 1+2i, as fmt.Sscan reads it. */
export function parseComplex(text: GoString): ParsedNumber {
  const real = floatToken(text, 0)
  if (!/[+-]/.test(text.charAt(real))) return { error: 'syntax error scanning complex number' }
  const imaginary = floatToken(text, real)
  if (text.charAt(imaginary) !== 'i') return { error: 'syntax error scanning complex number' }
  const [re, im] = [scanFloat(text.slice(0, real)), scanFloat(text.slice(real, imaginary))]
  if (typeof re === 'object') return re
  return typeof im === 'object' ? im : { complex: { re, im } }
}

/** Where the token ends that fmt's scanner takes for a float. */
function floatToken(text: GoString, from: number): number {
  let at = from
  const accept = (pattern: RegExp) => {
    if (!pattern.test(text.charAt(at))) return false
    at++
    return true
  }
  accept(/[+-]/)
  accept(/[iI]/) // it may begin Inf
  const isHex = accept(/0/) && accept(/[xX]/)
  const digit = isHex ? /[0-9a-fA-F_]/ : /[0-9_]/
  while (accept(digit));
  if (accept(/[.]/)) while (accept(digit));
  if (accept(isHex ? /[pP]/ : /[eEpP]/)) {
    accept(/[+-]/)
    while (accept(/[0-9_]/));
  }
  return at
}

function scanFloat(text: GoString): number | { error: string } {
  const value = readFloat(text)
  if (value !== undefined) return value
  const reason = isFloatSyntax(text) ? 'value out of range' : 'invalid syntax'
  return { error: `strconv.ParseFloat: parsing ${quote(text)}: ${reason}` }
}

/** Go's strconv.ParseInt and ParseUint with base 0, without their limits. */
function parseInteger(text: GoString): bigint | undefined {
  const [, sign, prefix = '', digits = ''] = /^([+-]?)(0[xX]|0[bB]|0[oO]?(?=[\d_]))?(.*)$/.exec(text) ?? []
  const base = { '0x': 16, '0b': 2, '0o': 8, '0': 8, '': 10 }[prefix.toLowerCase()] ?? 10
  const allowed = base === 16 ? /^[0-9a-fA-F_]+$/ : base === 8 ? /^[0-7_]+$/ : base === 2 ? /^[01_]+$/ : /^[0-9_]+$/
  if (!allowed.test(digits) || !underscoresSeparateDigits(text)) return undefined
  const plain = digits.replaceAll('_', '')
  if (plain === '') return undefined
  const value = base === 10 ? BigInt(plain) : BigInt({ 16: '0x', 8: '0o', 2: '0b' }[base] + plain)
  return sign === '-' ? -value : value
}

const decimalFloat = /^[+-]?(?=[._]*\d)[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d[\d_]*)?$/
const hexFloat = /^([+-]?)0[xX](?=[._]*[0-9a-fA-F])([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?\d[\d_]*)$/

const isFloatSyntax = (text: GoString) =>
  (decimalFloat.test(text) || hexFloat.test(text)) && underscoresSeparateDigits(text)

/** Go's strconv.ParseFloat; undefined where the syntax is invalid or the value out of range. */
function readFloat(text: GoString): number | undefined {
  if (!isFloatSyntax(text)) return undefined
  const [, sign, whole, fraction = '', exponent = ''] = hexFloat.exec(text.replaceAll('_', '')) ?? []
  const value =
    whole === undefined
      ? Number(text.replaceAll('_', ''))
      : (sign === '-' ? -1 : 1) * scaleByTwo(BigInt(`0x${whole}${fraction}`), Number(exponent) - 4 * fraction.length)
  return Number.isFinite(value) ? value : undefined
}

/** mantissa × 2^exponent, rounded once, to even. */
function scaleByTwo(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0
  const bits = mantissa.toString(2).length
  if (bits + exponent > 1025) return Number.POSITIVE_INFINITY
  if (bits + exponent < -1080) return 0
  const precision = Math.min(53, bits + exponent + 1074)
  const dropped = BigInt(bits - Math.max(precision, 0))
  if (dropped <= 0n) return timesTwoTo(Number(mantissa), exponent)
  const half = 1n << (dropped - 1n)
  const rest = mantissa & ((1n << dropped) - 1n)
  let kept = mantissa >> dropped
  if (rest > half || (rest === half && (kept & 1n) === 1n)) kept++
  return timesTwoTo(Number(kept), exponent + Number(dropped))
}

/** In two steps, since 2 ** -1074 and its like would be rounded away in one. */
function timesTwoTo(value: number, scale: number): number {
  const first = Math.trunc(scale / 2)
  return value * 2 ** first * 2 ** (scale - first)
}

/** Go's rule for `_` in numbers: between digits, or between a base's prefix and a digit. */
function underscoresSeparateDigits(text: GoString): boolean {
  if (!text.includes('_')) return true
  const unsigned = text.replace(/^[+-]/, '')
  const prefix = /^0[xXbBoO]/.exec(unsigned)?.[0] ?? ''
  const digit = /[xX]/.test(prefix) ? /[0-9a-fA-F]/ : /\d/
  let last = prefix === '' ? '' : '0'
  for (const char of unsigned.slice(prefix.length)) {
    const isDigit = digit.test(char)
    if (char === '_' ? last !== '0' : last === '_' && !isDigit) return false
    last = isDigit ? '0' : char
  }
  return last !== '_'
}
