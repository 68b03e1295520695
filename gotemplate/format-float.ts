import type { GoString } from './bytes.ts'

export type FloatVerb = 'e' | 'E' | 'f' | 'g' | 'G' | 'b' | 'x' | 'X'

/** The decimal 0.d₁d₂… × 10^point, without zeros at its end. */
type Decimal = { readonly digits: string; readonly point: number }

/** Go's strconv.FormatFloat; a precision of -1 asks for the fewest digits that read back as the same number. */
export function formatFloat(value: number, verb: FloatVerb, precision: number, bits: 32 | 64): GoString {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const absolute = Math.abs(value)
  if (verb === 'b') return sign + formatBinary(absolute, bits)
  if (verb === 'x' || verb === 'X') return sign + formatHex(absolute, verb, precision, bits)
  const isShortest = precision < 0
  const decimal = isShortest ? shortestDecimal(absolute, bits) : roundedDecimal(absolute, verb, precision)
  return sign + formatDecimal(decimal, verb, isShortest ? shortestPrecision(decimal, verb) : precision, isShortest)
}

function shortestPrecision({ digits, point }: Decimal, verb: FloatVerb): number {
  if (verb === 'f') return Math.max(digits.length - point, 0)
  return verb === 'g' || verb === 'G' ? digits.length : Math.max(digits.length - 1, 0)
}

function formatDecimal(decimal: Decimal, verb: FloatVerb, precision: number, isShortest: boolean): GoString {
  const { digits, point } = decimal
  if (verb === 'e' || verb === 'E') return formatExponent(decimal, verb, precision)
  if (verb === 'f') return formatFixed(decimal, precision)
  const wanted = isShortest ? precision : precision || 1
  const fitting = wanted > digits.length && digits.length >= point ? digits.length : wanted
  const exponent = digits === '' ? -1 : point - 1
  if (exponent < -4 || exponent >= (isShortest ? 6 : fitting))
    return formatExponent(decimal, verb === 'g' ? 'e' : 'E', Math.min(wanted, digits.length) - 1)
  return formatFixed(decimal, Math.max((wanted > point ? digits.length : wanted) - point, 0))
}

function formatExponent({ digits, point }: Decimal, verb: 'e' | 'E', precision: number): GoString {
  const fraction = precision > 0 ? `.${digits.slice(1, 1 + precision).padEnd(precision, '0')}` : ''
  const exponent = digits === '' ? 0 : point - 1
  return `${digits.charAt(0) || '0'}${fraction}${verb}${exponent < 0 ? '-' : '+'}${twoDigits(exponent)}`
}

function formatFixed({ digits, point }: Decimal, precision: number): GoString {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  if (precision <= 0) return whole
  const fraction = point > 0 ? digits.slice(point) : '0'.repeat(Math.min(-point, precision)) + digits
  return `${whole}.${fraction.slice(0, precision).padEnd(precision, '0')}`
}

const twoDigits = (exponent: number) => String(Math.abs(exponent)).padStart(2, '0')

function shortestDecimal(value: number, bits: 32 | 64): Decimal {
  if (value === 0) return { digits: '', point: 0 }
  return fromExponential(bits === 64 ? value.toExponential() : shortestSingle(value))
}

function shortestSingle(value: number): string {
  for (let digits = 0; digits < 8; digits++) {
    const text = value.toExponential(digits)
    if (Math.fround(Number(text)) === value) return text
  }
  return value.toExponential(8)
}

function fromExponential(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.split('e')
  return { digits: trimZeros(mantissa.replace('.', '')), point: Number(exponent) + 1 }
}

/** The exact decimal, rounded half to even to the digits that the verb asks for. */
function roundedDecimal(value: number, verb: FloatVerb, precision: number): Decimal {
  if (value === 0) return { digits: '', point: 0 }
  const { mantissa, exponent } = decompose(value, 64)
  const scaled = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent)
  const exact = scaled.toString()
  const point = exact.length + Math.min(exponent, 0)
  const wanted = verb === 'f' ? point + precision : verb === 'g' || verb === 'G' ? precision || 1 : precision + 1
  return roundDigits(exact, point, wanted)
}

function roundDigits(exact: string, point: number, wanted: number): Decimal {
  if (wanted >= exact.length) return { digits: trimZeros(exact), point }
  if (wanted < 0) return { digits: '', point: 0 }
  const kept = exact.slice(0, wanted)
  const rest = exact.slice(wanted)
  const half = `5${'0'.repeat(rest.length - 1)}`
  const isOdd = Number(kept.at(-1) ?? 0) % 2 === 1
  if (rest < half || (rest === half && !isOdd)) {
    const digits = trimZeros(kept)
    return { digits, point: digits === '' ? 0 : point }
  }
  const raised = (BigInt(kept || '0') + 1n).toString()
  return { digits: trimZeros(raised), point: raised.length > kept.length ? point + 1 : point }
}

function trimZeros(digits: string): string {
  let end = digits.length
  while (digits.charAt(end - 1) === '0') end--
  return digits.slice(0, end)
}

/** value = mantissa × 2^exponent, with as many bits as the type keeps unless the number is too small for them. */
function decompose(value: number, bits: 32 | 64): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  if (bits === 32) view.setFloat32(0, value)
  else view.setFloat64(0, value)
  const [mantissaBits, bias] = bits === 32 ? [23n, 150] : [52n, 1075]
  const raw = bits === 32 ? BigInt(view.getUint32(0)) : view.getBigUint64(0)
  const stored = Number(raw >> mantissaBits)
  const fraction = raw & ((1n << mantissaBits) - 1n)
  return stored === 0
    ? { mantissa: fraction, exponent: 1 - bias }
    : { mantissa: fraction | (1n << mantissaBits), exponent: stored - bias }
}

function formatBinary(value: number, bits: 32 | 64): GoString {
  const { mantissa, exponent } = decompose(value, bits)
  return `${mantissa}p${exponent >= 0 ? '+' : ''}${exponent}`
}

function formatHex(value: number, verb: 'x' | 'X', precision: number, bits: 32 | 64): GoString {
  const parts = decompose(value, bits)
  let mantissa = parts.mantissa
  let exponent = parts.exponent + (bits === 32 ? 23 : 52)
  if (mantissa === 0n) exponent = 0
  mantissa <<= bits === 32 ? 37n : 8n // the leading 1 at bit 60
  while (mantissa !== 0n && mantissa < 1n << 60n) {
    mantissa <<= 1n
    exponent--
  }
  if (precision >= 0 && precision < 15) {
    const dropped = BigInt(60 - precision * 4)
    const rest = mantissa & ((1n << dropped) - 1n)
    const half = 1n << (dropped - 1n)
    mantissa >>= dropped
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa++
    mantissa <<= dropped
    if (mantissa >= 1n << 61n) {
      mantissa >>= 1n
      exponent++
    }
  }
  const all = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, '0')
  const fraction = precision < 0 ? trimZeros(all) : all.slice(0, precision).padEnd(precision, '0')
  const text = `0x${mantissa >> 60n}${fraction && `.${fraction}`}p${exponent < 0 ? '-' : '+'}${twoDigits(exponent)}`
  return verb === 'X' ? text.toUpperCase() : text
}
