import { countRunes, decodeRune, encodeRune, type GoString, maxRune, runesOf } from './bytes.ts'
import { type FloatVerb, formatFloat } from './format-float.ts'
import type { Complex } from './numbers.ts'
import { canBackquote, quote, quoteRune } from './quote.ts'
import { isPrint } from './unicode.ts'
import { isInt, isInteger, isUint, type Slice, sortedEntries, unwrap, type Value } from './values.ts'

/** Counts what is written, and throws where that is too much. */
export type Meter = (bytes: number) => void

type Flags = {
  minus: boolean
  plus: boolean
  sharp: boolean
  space: boolean
  zero: boolean
  plusV: boolean
  sharpV: boolean
  width: number | undefined
  precision: number | undefined
}

const noFlags = (): Flags => ({
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
  width: undefined,
  precision: undefined,
})

/** Go's fmt.Sprint. */
export function sprint(values: readonly (Value | undefined)[], meter: Meter): GoString {
  const printer = new Printer(meter)
  let wasString = true
  for (const value of values.map(unwrap)) {
    const isString = value?.kind === 'string'
    if (!isString && !wasString) printer.write(' ')
    printer.print(value, 'v')
    wasString = isString
  }
  return printer.written
}

/** Go's fmt.Sprintln. */
export function sprintln(values: readonly (Value | undefined)[], meter: Meter): GoString {
  const printer = new Printer(meter)
  for (const [index, value] of values.entries()) {
    if (index > 0) printer.write(' ')
    printer.print(unwrap(value), 'v')
  }
  printer.write('\n')
  return printer.written
}

/** Go's fmt.Sprintf. */
export function sprintf(format: GoString, values: readonly (Value | undefined)[], meter: Meter): GoString {
  const printer = new Printer(meter)
  printer.format(format, values.map(unwrap))
  return printer.written
}

/** A reflect.Value as %v or %s of Go's own errors. */
export function describe(value: Value | undefined, verb: 'v' | 's', meter: Meter): GoString {
  if (value === undefined) return '<invalid reflect.Value>'
  const printer = new Printer(meter)
  printer.printNested(value, verb, 0)
  return printer.written
}

/** The largest width, precision and number of an argument. */
const maxNumber = 1_000_000

class Printer {
  written: GoString = ''
  readonly #meter: Meter
  #flags = noFlags()

  constructor(meter: Meter) {
    this.#meter = meter
  }

  write(bytes: GoString): void {
    this.#meter(bytes.length)
    this.written += bytes
  }

  format(format: GoString, values: readonly (Value | undefined)[]): void {
    let next = 0
    let isReordered = false
    let at = 0
    while (at < format.length) {
      const percent = format.indexOf('%', at)
      this.write(format.slice(at, percent < 0 ? undefined : percent))
      if (percent < 0) break
      const directive = this.#parseDirective(format, percent + 1, next, values)
      at = directive.end
      next = directive.argument
      isReordered ||= directive.isReordered
      const { verb } = directive
      if (verb === undefined) {
        this.write('%!(NOVERB)')
        break
      }
      if (verb === '%') this.write('%')
      else if (!directive.isGoodIndex) this.write(`%!${verb}(BADINDEX)`)
      else if (next >= values.length) this.write(`%!${verb}(MISSING)`)
      else {
        if (verb === 'v' || verb === 'w') {
          const { sharp, plus } = this.#flags
          Object.assign(this.#flags, { sharpV: sharp, plusV: plus, sharp: false, plus: false })
        }
        this.print(values[next], verb)
        next++
      }
    }
    if (!isReordered && next < values.length) this.#writeExtra(values.slice(next))
  }

  #writeExtra(values: readonly (Value | undefined)[]): void {
    this.#flags = noFlags()
    this.write('%!(EXTRA ')
    for (const [index, value] of values.entries()) {
      if (index > 0) this.write(', ')
      if (value !== undefined) this.write(`${value.type.name}=`)
      this.print(value, 'v')
    }
    this.write(')')
  }

  /** Reads flags, width, precision and verb after a `%`. */
  #parseDirective(format: GoString, from: number, firstArgument: number, values: readonly (Value | undefined)[]) {
    this.#flags = noFlags()
    const flags = this.#flags
    let at = from
    let argument = firstArgument
    let isGoodIndex = true
    let isReordered = false
    let afterIndex = false
    const readIndex = () => {
      afterIndex = false
      if (format.charAt(at) !== '[') return
      isReordered = true
      const close = format.length - at < 3 ? -1 : format.indexOf(']', at)
      const number = parseNumber(format, at + 1)
      const isNumber = number.value !== undefined && number.end === close
      const index = (number.value ?? 0) - 1
      at = close < 0 ? at + 1 : close + 1
      // A bracket that closes around a number counts as an index even where there is no such argument.
      afterIndex = isNumber
      if (isNumber && index >= 0 && index < values.length) argument = index
      else isGoodIndex = false
    }
    const readStar = () => {
      at++
      afterIndex = false
      return integerOf(values[argument++])
    }

    const flagNames = { '#': 'sharp', '0': 'zero', '+': 'plus', '-': 'minus', ' ': 'space' } as const
    for (; ; at++) {
      const name = flagNames[format.charAt(at) as keyof typeof flagNames]
      if (name === undefined) break
      flags[name] = true
    }
    readIndex()
    if (format.charAt(at) === '*') {
      const hasArgument = argument < values.length
      const width = readStar()
      if (!hasArgument) argument--
      if (width === undefined) this.write('%!(BADWIDTH)')
      else if (width < 0) Object.assign(flags, { minus: true, zero: false })
      flags.width = width === undefined ? undefined : Math.abs(width)
    } else {
      const number = parseNumber(format, at)
      at = number.end
      flags.width = number.value
      if (afterIndex && number.value !== undefined) isGoodIndex = false
    }
    if (at + 1 < format.length && format.charAt(at) === '.') {
      at++
      if (afterIndex) isGoodIndex = false
      readIndex()
      if (format.charAt(at) === '*') {
        const hasArgument = argument < values.length
        const precision = readStar()
        if (!hasArgument) argument--
        flags.precision = precision !== undefined && precision >= 0 ? precision : undefined
        if (flags.precision === undefined) this.write('%!(BADPREC)')
      } else {
        const number = parseNumber(format, at)
        at = number.end
        flags.precision = number.value ?? 0
      }
    }
    if (!afterIndex) readIndex()
    if (at >= format.length) return { end: at, argument, isGoodIndex, isReordered, verb: undefined }
    const { size } = decodeRune(format, at)
    const raw = format.slice(at, at + size)
    const verb = size === 1 && raw >= '\x80' ? encodeRune(0xfffd) : raw
    return { end: at + size, argument, isGoodIndex, isReordered, verb }
  }

  /** Go's printArg: a whole argument. */
  print(value: Value | undefined, verb: GoString): void {
    if (value === undefined) {
      if (verb === 'T' || verb === 'v') this.#pad('<nil>')
      else this.#badVerb(undefined, verb)
    } else if (verb === 'T') this.#writeText(value.type.name)
    else if (verb === 'p') this.#writePointer(value, 'p')
    else if (verb === 'w') this.#badVerb(value, verb)
    else if (isBytes(value) && (verb === 'v' || verb === 'd')) this.#writeBytes(value)
    else this.printNested(value, verb, 0)
  }

  /** Go's printValue. */
  printNested(value: Value, verb: GoString, depth: number): void {
    switch (value.kind) {
      case 'bool':
        if (verb === 't' || verb === 'v') this.#pad(String(value.value))
        else this.#badVerb(value, verb)
        return
      case 'string':
        this.#writeString(value.value, value, verb)
        return
      case 'float32':
      case 'float64':
        this.#writeFloat(value.value, value.kind === 'float32' ? 32 : 64, value, verb)
        return
      case 'complex64':
      case 'complex128':
        this.#writeComplex(value.value, value.kind === 'complex64' ? 32 : 64, value, verb)
        return
      case 'map': {
        if (!this.#open(value, value.entries === null, 'map[')) return
        this.#writeAll(sortedEntries(value), ([key, element]) => {
          this.printNested(key, verb, depth + 1)
          this.write(':')
          this.printNested(element, verb, depth + 1)
        })
        this.write(this.#flags.sharpV ? '}' : ']')
        return
      }
      case 'struct': {
        this.write(this.#flags.sharpV ? `${value.type.name}{` : '{')
        this.#writeAll([...value.fields.entries()], ([index, field]) => {
          if (this.#flags.plusV || this.#flags.sharpV) this.write(`${value.type.fields[index]?.name}:`)
          this.printNested(unwrap(field) ?? field, verb, depth + 1)
        })
        this.write('}')
        return
      }
      case 'interface':
        if (value.of !== null) {
          this.printNested(value.of, verb, depth + 1)
          return
        }
        this.write(this.#flags.sharpV ? `${value.type.name}(nil)` : '<nil>')
        return
      case 'slice':
        if (isBytes(value) && 'sqxX'.includes(verb)) {
          this.#writeString(bytesOf(value), value, verb)
          return
        }
        if (!this.#open(value, value.items === null, '[')) return
        this.#writeAll(value.items ?? [], (item) => this.printNested(item, verb, depth + 1))
        this.write(this.#flags.sharpV ? '}' : ']')
        return
      case 'pointer': {
        const target = value.to
        const isShown = target?.kind === 'slice' || target?.kind === 'struct' || target?.kind === 'map'
        if (depth > 0 || !isShown) {
          this.#writePointer(value, verb)
          return
        }
        this.write('&')
        this.printNested(target, verb, depth + 1)
        return
      }
      default:
        this.#writeInteger(value.value, isInt(value), value, verb)
        return
    }
  }

  /** Writes what stands before the elements; false where there are none to write. */
  #open(value: Value, isNil: boolean, bracket: string): boolean {
    if (!this.#flags.sharpV) {
      this.write(bracket)
      return true
    }
    this.write(value.type.name + (isNil ? '(nil)' : '{'))
    return !isNil
  }

  #writeAll<T>(items: readonly T[], write: (item: T) => void): void {
    for (const [index, item] of items.entries()) {
      if (index > 0) this.write(this.#flags.sharpV ? ', ' : ' ')
      write(item)
    }
  }

  #badVerb(value: Value | undefined, verb: GoString): void {
    this.write(`%!${verb}(`)
    if (value === undefined) this.write('<nil>')
    else {
      this.write(`${value.type.name}=`)
      this.print(value, 'v')
    }
    this.write(')')
  }

  #writeInteger(value: bigint, isSigned: boolean, whole: Value, verb: GoString): void {
    const unsigned = BigInt.asUintN(64, value)
    switch (verb) {
      case 'v':
        if (this.#flags.sharpV && !isSigned) {
          this.#writeWithPrefix(unsigned)
          return
        }
        this.#formatInteger(value, 10, verb)
        return
      case 'd':
        this.#formatInteger(value, 10, verb)
        return
      case 'b':
        this.#formatInteger(value, 2, verb)
        return
      case 'o':
      case 'O':
        this.#formatInteger(value, 8, verb)
        return
      case 'x':
      case 'X':
        this.#formatInteger(value, 16, verb)
        return
      case 'c':
        this.#pad(encodeRune(toRune(unsigned)))
        return
      case 'q':
        this.#pad(quoteRune(toRune(unsigned), this.#flags.plus))
        return
      case 'U':
        this.#formatUnicode(unsigned)
        return
      default:
        this.#badVerb(whole, verb)
        return
    }
  }

  #writeWithPrefix(value: bigint): void {
    const { sharp } = this.#flags
    this.#flags.sharp = true
    this.#formatInteger(value, 16, 'v')
    this.#flags.sharp = sharp
  }

  #formatInteger(value: bigint, base: 2 | 8 | 10 | 16, verb: GoString): void {
    const { width, precision, zero, minus, plus, space, sharp } = this.#flags
    const isNegative = value < 0n
    if (precision === 0 && value === 0n) {
      this.#padWithSpaces('')
      return
    }
    let digits = (isNegative ? -value : value).toString(base)
    let minDigits = precision ?? 0
    if (precision === undefined && zero && !minus && width !== undefined)
      minDigits = width - (isNegative || plus || space ? 1 : 0)
    this.#meter(minDigits)
    digits = digits.padStart(minDigits, '0')
    if (sharp && base === 2) digits = `0b${digits}`
    if (sharp && base === 8 && !digits.startsWith('0')) digits = `0${digits}`
    if (sharp && base === 16) digits = `0x${digits}`
    if (verb === 'O') digits = `0o${digits}`
    if (verb === 'X') digits = digits.toUpperCase()
    this.#padWithSpaces((isNegative ? '-' : plus ? '+' : space ? ' ' : '') + digits)
  }

  #formatUnicode(value: bigint): void {
    const { sharp, precision = 0 } = this.#flags
    this.#meter(precision)
    const number = `U+${value.toString(16).toUpperCase().padStart(Math.max(4, precision), '0')}`
    const code = value <= BigInt(maxRune) ? Number(value) : -1
    this.#padWithSpaces(sharp && isPrint(code) ? `${number} '${encodeRune(code)}'` : number)
  }

  #writeFloat(value: number, bits: 32 | 64, whole: Value, verb: GoString): void {
    if (verb === 'v') this.#formatFloat(value, bits, 'g', -1)
    else if (verb === 'F') this.#formatFloat(value, bits, 'f', 6)
    else if (verb === 'f' || verb === 'e' || verb === 'E') this.#formatFloat(value, bits, verb, 6)
    else if (verb === 'b' || verb === 'g' || verb === 'G' || verb === 'x' || verb === 'X')
      this.#formatFloat(value, bits, verb, -1)
    else this.#badVerb(whole, verb)
  }

  #writeComplex({ re, im }: Complex, bits: 32 | 64, whole: Value, verb: GoString): void {
    if (!'vbgGxXfFeE'.includes(verb)) {
      this.#badVerb(whole, verb)
      return
    }
    const { plus } = this.#flags
    this.write('(')
    this.#writeFloat(re, bits, whole, verb)
    this.#flags.plus = true
    this.#writeFloat(im, bits, whole, verb)
    this.write('i)')
    this.#flags.plus = plus
  }

  #formatFloat(value: number, bits: 32 | 64, verb: FloatVerb, defaultPrecision: number): void {
    const { plus, space, sharp, zero, minus, width, precision = defaultPrecision } = this.#flags
    this.#meter(Math.max(precision, 0))
    const formatted = formatFloat(value, verb, precision, bits)
    let sign = /^[+-]/.test(formatted) ? formatted.charAt(0) : '+'
    const number = formatted.replace(/^[+-]/, '')
    if (space && sign === '+' && !plus) sign = ' '
    if (number === 'Inf' || number === 'NaN') {
      const isBare = number === 'NaN' && !space && !plus
      this.#padWithSpaces(isBare ? number : sign + number)
      return
    }
    const full = sharp && verb !== 'b' ? withPoint(number, verb, precision) : number
    if (!plus && sign === '+') {
      this.#pad(full)
      return
    }
    if (zero && !minus && width !== undefined && width > full.length + 1) {
      this.write(sign)
      this.#meter(width)
      this.write(full.padStart(width - 1, '0'))
      return
    }
    this.#pad(sign + full)
  }

  #writeString(text: GoString, whole: Value, verb: GoString): void {
    if (verb === 's' || (verb === 'v' && !this.#flags.sharpV)) this.#writeText(text)
    else if (verb === 'v' || verb === 'q') this.#writeQuoted(text)
    else if (verb === 'x' || verb === 'X') this.#writeHex(text, verb)
    else this.#badVerb(whole, verb)
  }

  #writeText(text: GoString): void {
    this.#pad(this.#truncate(text))
  }

  #truncate(text: GoString): GoString {
    let left = this.#flags.precision
    if (left === undefined) return text
    for (const { at } of runesOf(text)) if (left-- === 0) return text.slice(0, at)
    return text
  }

  #writeQuoted(text: GoString): void {
    const truncated = this.#truncate(text)
    if (this.#flags.sharp && canBackquote(truncated)) this.#pad(`\`${truncated}\``)
    else this.#pad(quote(truncated, this.#flags.plus))
  }

  #writeHex(text: GoString, verb: 'x' | 'X'): void {
    const { space, sharp, precision } = this.#flags
    const shown = precision === undefined ? text : text.slice(0, precision)
    const pairs = Array.from(shown, (char) => char.charCodeAt(0).toString(16).padStart(2, '0'))
    const parts = space ? pairs : [pairs.join('')]
    const hex = shown === '' ? '' : parts.map((part) => (sharp ? `0x${part}` : part)).join(' ')
    this.#pad(verb === 'X' ? hex.toUpperCase() : hex)
  }

  #writeBytes(value: Slice): void {
    const { sharpV } = this.#flags
    if (sharpV && value.items === null) {
      this.write('[]byte(nil)')
      return
    }
    this.write(sharpV ? '[]byte{' : '[')
    this.#writeAll(value.items ?? [], (item) => {
      if (!isInteger(item)) return
      if (sharpV) this.#writeWithPrefix(item.value)
      else this.#formatInteger(item.value, 10, 'v')
    })
    this.write(sharpV ? '}' : ']')
  }

  /** Addresses mean nothing here: every pointer that is not nil has the same one. */
  #writePointer(value: Value, verb: GoString): void {
    if (value.kind !== 'pointer' && value.kind !== 'map' && value.kind !== 'slice') {
      this.#badVerb(value, verb)
      return
    }
    const isNil =
      value.kind === 'pointer' ? value.to === null : (value.kind === 'map' ? value.entries : value.items) === null
    const address = isNil ? 0n : 0xc000012345n
    const { sharp, sharpV } = this.#flags
    if (verb === 'v' && sharpV) {
      this.write(`(${value.type.name})(`)
      if (isNil) this.write('nil')
      else this.#writeWithPrefix(address)
      this.write(')')
      return
    }
    if (verb === 'v' && isNil) {
      this.#pad('<nil>')
      return
    }
    if (verb === 'v' || verb === 'p') {
      this.#flags.sharp = !sharp
      this.#formatInteger(address, 16, 'v')
      this.#flags.sharp = sharp
    } else if (verb !== '' && 'bodxX'.includes(verb)) this.#writeInteger(address, false, value, verb)
    else this.#badVerb(value, verb)
  }

  #padWithSpaces(text: GoString): void {
    const { zero } = this.#flags
    this.#flags.zero = false
    this.#pad(text)
    this.#flags.zero = zero
  }

  #pad(text: GoString): void {
    const { width, minus, zero } = this.#flags
    const missing = (width ?? 0) - (width === undefined ? 0 : countRunes(text))
    if (missing <= 0) {
      this.write(text)
      return
    }
    this.#meter(missing)
    const padding = (zero && !minus ? '0' : ' ').repeat(missing)
    this.write(minus ? text + padding : padding + text)
  }
}

const isBytes = (value: Value): value is Slice => value.kind === 'slice' && value.type.element.kind === 'uint8'

const bytesOf = (value: Slice): GoString =>
  (value.items ?? []).map((item) => (isInteger(item) ? String.fromCharCode(Number(item.value)) : '')).join('')

const toRune = (value: bigint): number => (value > BigInt(maxRune) ? 0xfffd : Number(value))

/** A width or precision from an argument; undefined if that is invalid. */
function integerOf(value: Value | undefined): number | undefined {
  if (!isInt(value) && !isUint(value)) return undefined
  return value.value > maxNumber || value.value < -maxNumber ? undefined : Number(value.value)
}

/** A number in a format; one that is too large is invalid and ends the format. */
function parseNumber(format: GoString, from: number): { value: number | undefined; end: number } {
  let value: number | undefined
  let end = from
  for (; /\d/.test(format.charAt(end)); end++) {
    if ((value ?? 0) > maxNumber) return { value: undefined, end: format.length }
    value = (value ?? 0) * 10 + Number(format.charAt(end))
  }
  return { value, end }
}

/** What `#` adds to a float: its point, and the zeros up to its precision. */
function withPoint(number: GoString, verb: FloatVerb, precision: number): GoString {
  const exponentAt = number.search(verb === 'x' || verb === 'X' ? /[pP]/ : /[eEpP]/)
  const mantissa = exponentAt < 0 ? number : number.slice(0, exponentAt)
  const exponent = exponentAt < 0 ? '' : number.slice(exponentAt)
  let missing = verb === 'g' || verb === 'G' || verb === 'x' ? (precision < 0 ? 6 : precision) : 0
  let sawNonzero = false
  for (const char of mantissa) {
    if (char === '.') continue
    if (char !== '0') sawNonzero = true
    if (sawNonzero) missing--
  }
  const hasPoint = mantissa.includes('.')
  if (!hasPoint && mantissa === '0') missing--
  return mantissa + (hasPoint ? '' : '.') + '0'.repeat(Math.max(missing, 0)) + exponent
}
